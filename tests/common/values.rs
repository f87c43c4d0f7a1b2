//! Texts that would run, split, vanish or become an option, were they anything but one value.

/// Values that have made trouble.
pub(crate) fn values() -> Vec<String> {
    let mut values: Vec<String> = [
        "plain",
        "",
        " ",
        "two words",
        "a\nb",
        "\n",
        "a\n",
        "tab\there",
        "$(touch ran)",
        "`touch ran`",
        ";touch ran",
        "\n touch ran",
        "&& touch ran",
        "| touch ran",
        "' \"",
        "'; touch ran; '",
        "*",
        "?[a-z]*",
        "$HOME",
        "${HOME}",
        "~",
        "\\",
        "\\n",
        "%s%n",
        "{x}",
        "{{",
        "a=b",
        "héllo wörld",
        "日本語 🎉",
        "\u{202e}abc",
        "e\u{301}",
        "\u{7f}\u{1b}[31m",
        "--version",
        "-oFile",
        "-",
        "--",
        "-5",
        "-\n",
    ]
    .map(str::to_owned)
    .to_vec();
    values.push("x".repeat(100_000));
    values.push(format!("-{}", "é".repeat(50_000)));
    values
}
