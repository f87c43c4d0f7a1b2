//! What lies beside a script: its own modules, whatever their names are.

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::common::scratch::Scratch;
use crate::harness::Scripts;

const OWN: &str = "def mine() -> str: return __name__ + ' of the folder'\n";

/// Names that the runner or Python's asyncio import.
const NAMES: [&str; 10] = [
    "ast",
    "asyncio",
    "inspect",
    "linecache",
    "logging",
    "pathlib",
    "queue",
    "select",
    "selectors",
    "traceback",
];

#[tokio::test]
async fn a_script_and_its_own_modules_may_have_the_names_of_pythons() {
    let modules = NAMES.map(|name| format!("{name}.py"));
    let mut others: Vec<_> = modules.iter().map(|name| (name.as_str(), OWN)).collect();
    others.push(("concurrent/__init__.py", OWN));
    let text = format!(
        "import concurrent, os, {}\n\
         def all(a: int) -> list: return [module.mine() for module in ({}, concurrent)]\n\
         async def one(a: int) -> str: return asyncio.mine()\n\
         def later(a: int) -> str:\n    import selectors\n    return selectors.mine()\n\
         def fail(a: int) -> str: raise ValueError('no')\n\
         def path(a: os.PathLike) -> list: return [type(a).__name__, a.name]\n\
         def awaited(a: int):\n    async def inner(): return a\n    return inner()\n",
        NAMES.join(", "),
        NAMES.join(", ")
    );
    for concurrent in [1, 3] {
        let keys = json!({"concurrent": concurrent});
        let mut scripts = Scripts::host_beside(&others, &[("uses.py", &text)], &keys).await;
        let mut wanted: Vec<_> = NAMES.iter().map(|name| format!("{name} of the folder")).collect();
        wanted.push("concurrent of the folder".to_owned());
        let table = [
            ("all", json!(1), Ok(json!(wanted))),
            ("one", json!(1), Ok(json!("asyncio of the folder"))),
            ("later", json!(1), Ok(json!("selectors of the folder"))),
            ("fail", json!(1), Err("ValueError: no".to_owned())),
            ("path", json!("/a/b"), Ok(json!(["PosixPath", "b"]))),
            ("awaited", json!(1), Ok(json!(1))),
        ];
        for (name, a, wanted) in table {
            assert_eq!(
                scripts.call("uses", name, json!({"a": a})).await,
                wanted,
                "{name} of {concurrent}"
            );
        }
        scripts.host.stop().await;
    }
}

#[tokio::test]
async fn a_script_with_the_name_of_a_module_that_python_has_not_loaded_is_no_trouble() {
    let text = "async def f(a: int) -> str: return __name__\ndef g(a: int) -> str: return __name__\n";
    let names = ["queue", "asyncio", "selectors", "calendar"];
    let files = names.map(|name| format!("{name}.py"));
    let files: Vec<_> = files.iter().map(|name| (name.as_str(), text)).collect();
    let mut scripts = Scripts::host_with(&files, &json!({"concurrent": 2})).await;
    for name in names {
        for tool in ["f", "g"] {
            assert_eq!(
                scripts.call(name, tool, json!({"a": 1})).await,
                Ok(json!(format!("{name}_script")))
            );
        }
    }
    scripts.host.stop().await;
}

#[tokio::test]
async fn a_script_that_is_a_link_finds_the_modules_beside_the_file() {
    let real = Scratch::new();
    std::fs::write(real.path().join("beside.py"), "WORD = 'found'\n").unwrap();
    let text = "import sys, beside\n\
                def f(a: int) -> list: return [beside.WORD, sys.argv == [__file__], __file__.endswith('/link.py')]\n";
    std::fs::write(real.path().join("real.py"), text).unwrap();
    let links = Scratch::new();
    symlink(real.path().join("real.py"), links.path().join("link.py")).unwrap();
    let mut scripts = Scripts::host_in(links, &["link.py"], &json!({})).await;
    assert_eq!(
        scripts.call("link", "f", json!({"a": 1})).await,
        Ok(json!(["found", true, true]))
    );
    scripts.host.stop().await;
}

#[tokio::test]
async fn a_module_of_the_users_own_named_toolhost_is_what_the_script_imports() {
    let own = "import toolhost\ndef f(a: int) -> str: return toolhost.mine()\n";
    let others = [("toolhost.py", "def mine(): return 'own'\n")];
    let mut scripts = Scripts::host_beside(&others, &[("own.py", own)], &json!({})).await;
    assert_eq!(scripts.call("own", "f", json!({"a": 1})).await, Ok(json!("own")));
    scripts.host.stop().await;
}

#[tokio::test]
async fn the_helper_works_in_a_script_with_a_copy_beside_it_of_any_version_and_without() {
    let text = "import toolhost\n@toolhost.tool(name='marked')\ndef f(a: int) -> int: return a\n";
    let another = include_str!("../../protocol/toolhost.py").to_owned() + "\n# A later version.\n";
    let copies = [("toolhost.py", another.as_str())];
    for others in [&copies[..], &[]] {
        let mut scripts = Scripts::host_beside(others, &[("helped.py", text)], &json!({})).await;
        assert_eq!(scripts.call("helped", "marked", json!({"a": 1})).await, Ok(json!(1)));
        scripts.host.stop().await;
    }
}
