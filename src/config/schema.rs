//! The JSON Schema of the file, for editors: `# yaml-language-server: $schema=...`.
//!
//! The types here mirror the file and exist for their schema only; reading goes by `read`, whose
//! faults have lines. A schema cannot know variables, so wherever a value may hold `${...}` it
//! accepts a text with one.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// The schema as it stands in `protocol/config.schema.json`.
pub fn schema() -> String {
    let schema = schemars::schema_for!(File);
    // A schema is a JSON value, which always has a text.
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}

/// Drops `required`: a key left out has its default, which `Option` would say too, but with `null` allowed.
fn optional(schema: &mut Schema) {
    schema.remove("required");
}

fn toolboxes_required(schema: &mut Schema) {
    schema.insert("required".into(), ["toolboxes"].as_slice().into());
}

/// A scalar of the file: its name in the schema, and what it may be.
macro_rules! scalar {
    ($(#[doc = $doc:literal] $name:ident: $schema:tt;)+) => {$(
        #[doc = $doc]
        struct $name;

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let mut schema = json_schema!($schema);
                schema.insert("description".into(), $doc.trim().into());
                schema
            }
        }
    )+};
}

scalar! {
    /// A text; numbers and the like are taken as they are typed.
    Word: {"type": ["string", "number", "boolean"]};
    /// A time such as 200ms, 10s or 1m 30s; a bare number counts seconds.
    Time: {"anyOf": [
        {"type": "number", "exclusiveMinimum": 0},
        {"type": "string", "pattern": r"^\s*[0-9.]+\s*([a-zA-Zµ]+(\s*[0-9.]+\s*[a-zA-Zµ]+)*)?\s*$|\$\{"}
    ]};
    /// A size such as 512KiB or 8MB; a bare number counts bytes.
    Size: {"anyOf": [
        {"type": "integer", "minimum": 1024},
        {"type": "string", "pattern": r"^\s*[0-9]+\s*(([kKmMgG][iI]?)?[bB])?\s*$|\$\{"}
    ]};
    /// A whole number, at least 1.
    Count: {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": r"^[0-9]+$|\$\{"}]};
    /// true (8), false (1), or a whole number from 1 to 256.
    Concurrent: {"anyOf": [{"type": "boolean"}, {"type": "integer", "minimum": 1, "maximum": 256}, {"type": "string", "pattern": r"^[0-9]+$|\$\{"}]};
    /// An exit code or a list of them, each from 0 to 255.
    ExitCodes: {"anyOf": [
        {"type": "integer", "minimum": 0, "maximum": 255},
        {"type": "string", "pattern": r"^[0-9]+$|\$\{"},
        {"type": "array", "minItems": 1, "items": {"anyOf": [
            {"type": "integer", "minimum": 0, "maximum": 255},
            {"type": "string", "pattern": r"^[0-9]+$|\$\{"}
        ]}}
    ]};
    /// text: {"output": "..."}. lines: {"lines": [...]}. json: the value it prints.
    Output: {"anyOf": [{"enum": ["text", "json", "lines"]}, {"type": "string", "pattern": r"\$\{"}]};
    /// [program, argument, ...]; {name} is an argument of the call, {name...} an array as several, {name?} keeps its item where it is true. A list in it is a group: it comes or stays away whole.
    Argv: {"type": "array", "minItems": 1, "items": {"anyOf": [
        {"type": ["string", "number", "boolean", "null"]},
        {"type": "array", "minItems": 1, "items": {"type": ["string", "number", "boolean", "null"]}}
    ]}};
    /// The type of a parameter.
    Type: {"enum": ["string", "number", "integer", "boolean", "array", "object"]};
    /// Octal digits, such as "077".
    Umask: {"anyOf": [{"type": "string", "pattern": r"^(0o)?0?[0-7]{3}$|\$\{"}, {"type": "integer", "minimum": 0, "maximum": 777}]};
    /// A file or a folder, or a list of them.
    Places: {"anyOf": [{"type": "string", "minLength": 1}, {"type": "array", "items": {"type": "string", "minLength": 1}}]};
    /// true, false, or best_effort.
    SandboxWord: {"anyOf": [{"type": "boolean"}, {"enum": ["best_effort"]}, {"type": "string", "pattern": r"\$\{"}]};
    /// true or false.
    Switch: {"anyOf": [{"type": "boolean"}, {"type": "string", "pattern": r"\$\{"}]};
    /// Where the bus is: ws://HOST:PORT/core, wss://..., embedded, or embedded://ADDRESS:PORT.
    Address: {"type": "string", "pattern": r"^([wW][sS]{1,2}://|embedded(:|$))|\$\{"};
    /// true, false, or auto: silent as soon as another service answers on the same bus.
    ToolService: {"anyOf": [{"type": "boolean"}, {"enum": ["auto"]}, {"type": "string", "pattern": r"\$\{"}]};
    /// answer, warn (answer, and name each caller in the log once an hour), or ignore.
    PredecessorTopics: {"anyOf": [{"enum": ["answer", "warn", "ignore"]}, {"type": "string", "pattern": r"\$\{"}]};
    /// persistent: one process serves many requests. oneshot: a process a request.
    Mode: {"anyOf": [{"enum": ["persistent", "oneshot"]}, {"type": "string", "pattern": r"\$\{"}]};
    /// A time such as 10m, or never.
    TimeOrNever: {"anyOf": [
        {"type": "number", "exclusiveMinimum": 0},
        {"type": "string", "pattern": r"^\s*[0-9.]+\s*([a-zA-Zµ]+(\s*[0-9.]+\s*[a-zA-Zµ]+)*)?\s*$|^never$|\$\{"}
    ]};
    /// eager: the processes start with the host. lazy: the first call starts them; meanwhile the tools are those last described.
    Start: {"anyOf": [{"enum": ["eager", "lazy"]}, {"type": "string", "pattern": r"\$\{"}]};
    /// always, on_failure (all but exit status 0), or never.
    When: {"anyOf": [{"enum": ["always", "on_failure", "never"]}, {"type": "string", "pattern": r"\$\{"}]};
    /// A word put before every published name, with a _ between.
    Namespace: {"type": "string", "pattern": r"^[A-Za-z0-9_-]+$|\$\{"};
    /// [program, argument, ...], or one line that is split by the quoting rules of a shell, but without one.
    Command: {"anyOf": [
        {"type": "string", "minLength": 1},
        {"type": "array", "items": {"type": ["string", "number", "boolean", "null"]}, "minItems": 1}
    ]};
}

/// Configuration of toolhost, the toolbox host of OpenVoiceOS.
///
/// Paths are relative to the file. ${NAME} and ${NAME:-default} stand for environment variables, in values only.
#[derive(JsonSchema)]
#[schemars(title = "toolhost.yaml", deny_unknown_fields, transform = toolboxes_required)]
#[schemars(extend("patternProperties" = {"^x-": true}))]
#[expect(dead_code, reason = "for the schema only")]
struct File {
    /// Which bus: a mapping, or the address alone. Default: what mycroft.conf says, or else ws://127.0.0.1:8181/core.
    bus: Option<BusOrAddress>,
    /// Whether ovos.tools.* is answered. Default: auto.
    #[schemars(extend("default" = "auto"))]
    tool_service: ToolService,
    /// What becomes of calls on ovos.persona.tools.<toolbox_id>.call. Default: answer.
    #[schemars(extend("default" = "answer"))]
    predecessor_topics: PredecessorTopics,
    /// Calls to toolboxes of other hosts that are forwarded from one call topic to the other.
    migrate: Option<Migrate>,
    /// Whether a change of this file, or of an env_file, is a reason to read it again. Default: false.
    #[schemars(extend("default" = false))]
    watch: Switch,
    /// Keys for every toolbox that does not have them itself; env, config, restart and rename are joined key by key.
    defaults: Option<Toolbox>,
    /// The toolboxes by toolbox_id, in the order they start.
    #[schemars(extend("propertyNames" = {"pattern": "^[A-Za-z0-9_-]+$"}))]
    toolboxes: Option<BTreeMap<String, Toolbox>>,
}

/// Calls to toolboxes of other hosts that are forwarded from one call topic to the other.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = optional)]
#[expect(dead_code, reason = "for the schema only")]
struct Migrate {
    /// toolbox_ids whose host answers ovos.persona.tools.<toolbox_id>.call only: calls on ovos.persona.tools.call reach it there.
    to_predecessor: Option<Vec<Word>>,
    /// toolbox_ids whose host answers ovos.persona.tools.call only: calls on ovos.persona.tools.<toolbox_id>.call reach it there.
    to_static: Option<Vec<Word>>,
    /// How long a forwarded call may take. Default: 30s.
    #[schemars(extend("default" = "30s"))]
    timeout: Time,
}

/// A mapping, or the address alone.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "for the schema only")]
enum BusOrAddress {
    Address(Address),
    Bus(Bus),
}

/// Which bus, and how it is reached.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = optional)]
#[expect(dead_code, reason = "for the schema only")]
struct Bus {
    /// Where it is: ws://HOST:PORT/core, wss://..., embedded (one of toolhost's own), or embedded://ADDRESS:PORT.
    url: Address,
    /// Certificates (PEM) to trust beside the system's, for a wss:// bus of one's own.
    ca_file: Word,
}

/// One toolbox.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = optional)]
#[schemars(extend("not" = {"anyOf": [{"required": ["command", "tools"]}, {"required": ["command", "script"]}, {"required": ["tools", "script"]}]}))]
#[expect(dead_code, reason = "for the schema only")]
struct Toolbox {
    /// The program and its arguments, which speaks the stdio protocol; ./x and ../x are beside this file.
    command: Command,
    /// Commands declared here, by the name of their tool; each is run once a call.
    #[schemars(extend("minProperties" = 1))]
    tools: Option<BTreeMap<String, Tool>>,
    /// A plain script whose functions, or annotated commands, are the tools; beside this file.
    script: Word,
    /// Of a script: the Python that runs it, a name on the PATH, a path, or the folder of a virtual environment.
    python: Word,
    /// Of a Python or JavaScript file: how many calls one process works on at once; true is 8. In Python it is so many in
    /// threads, and so many on the asyncio loop. Default: as many as come to async functions, and one to others.
    concurrent: Concurrent,
    /// Of a Bash script: what its commands print. Default: text.
    #[schemars(extend("default" = "text"))]
    output: Output,
    /// Programs that have to be there before it is started.
    requires: Option<Vec<Word>>,
    /// The folder its processes start in. Default: that of this file.
    cwd: Word,
    /// Variables it gets beside a short, fixed set; over those of env_file. Never shown anywhere.
    env: Option<BTreeMap<String, Word>>,
    /// A file of KEY=value lines. Never shown anywhere.
    env_file: Word,
    /// Names of further variables it inherits from toolhost.
    inherit_env: Option<Vec<Word>>,
    /// What each of its processes may use.
    limits: Option<Limits>,
    /// The mode bits that files it creates do not get, in octal digits: "077".
    umask: Umask,
    /// The user its processes run as, by name or number; only where toolhost runs as root.
    user: Word,
    /// The group its processes run as, by name or number; only where toolhost runs as root. Default: that of the user.
    group: Word,
    /// What its processes may reach; without it, all that their user may. true: nothing beside the system's programs.
    sandbox: Option<SandboxOrWord>,
    /// Handed to the toolbox when it is asked for its tools; what it holds is the toolbox's own affair.
    config: Option<BTreeMap<String, serde_json::Value>>,
    /// How long one call may take, waiting included. Default: 30s.
    #[schemars(extend("default" = "30s"))]
    timeout: Time,
    /// How long it may take to start and tell its tools. Default: 60s.
    #[schemars(extend("default" = "60s"))]
    describe_timeout: Time,
    /// persistent: one process serves many requests. oneshot: a process a request. Default: persistent.
    #[schemars(extend("default" = "persistent"))]
    mode: Mode,
    /// Identical processes that share the calls; of tools, calls at work at once. Default: 1, of tools 8.
    processes: Count,
    /// Calls that may wait; one more is refused at once. Default: 256.
    #[schemars(extend("default" = 256))]
    max_pending: Count,
    /// When the processes start. Default: eager.
    #[schemars(extend("default" = "eager"))]
    start: Start,
    /// A process that nobody has called for so long is stopped, and started again by the next call. Default: never.
    #[schemars(extend("default" = "never"))]
    idle_timeout: TimeOrNever,
    /// What follows the end of a process.
    restart: Option<Restart>,
    /// Whether toolhost gives up when this toolbox cannot be started. Default: false.
    #[schemars(extend("default" = false))]
    required: Switch,
    /// The longest line read from the toolbox, up to 1GiB. Default: 16MiB.
    #[schemars(extend("default" = "16MiB"))]
    max_line: Size,
    /// The largest answer put on the bus, up to 23MB. Default: 8MiB.
    #[schemars(extend("default" = "8MiB"))]
    max_result: Size,
    /// Whether arguments are turned into the types of their schema, where that is plain. Default: false.
    #[schemars(extend("default" = false))]
    coerce: Switch,
    /// Put before every published name, with a _ between.
    namespace: Namespace,
    /// The toolbox's own name of a tool: the published one.
    rename: Option<BTreeMap<String, Word>>,
    /// Publish only these tools; * stands for any text.
    allow: Option<Vec<Word>>,
    /// Never publish these tools, whatever allow says; * stands for any text.
    deny: Option<Vec<Word>>,
    /// What becomes of calls on ovos.persona.tools.<toolbox_id>.call. Default: what the file says at its top.
    predecessor_topics: PredecessorTopics,
}

/// What one process may use.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = optional)]
#[expect(dead_code, reason = "for the schema only")]
struct Limits {
    /// Memory of its own, at least 16MiB; what is only reserved does not count.
    memory: Size,
    /// Seconds of processor time, over its whole life; then SIGXCPU, and a second later SIGKILL.
    cpu_seconds: Count,
    /// Files and sockets open at once, at least 16.
    open_files: Count,
    /// Processes and threads: with user, all of that user; without, so many more than the user has. Root has no such limit.
    processes: Count,
    /// Bytes a file it writes may have.
    file_size: Size,
}

/// A mapping, or one word.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "for the schema only")]
enum SandboxOrWord {
    Word(SandboxWord),
    Sandbox(Sandbox),
}

/// What processes may reach.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = optional)]
#[expect(dead_code, reason = "for the schema only")]
struct Sandbox {
    /// Files and folders that may be read and executed, beside the system's programs and the script itself.
    read: Places,
    /// Files and folders that may be read, written and deleted.
    write: Places,
    /// Whether sockets may be opened, those of this machine among them. Default: false.
    #[schemars(extend("default" = false))]
    network: Switch,
    /// Whether it is started also where the kernel can hold it to less than this. Default: false.
    #[schemars(extend("default" = false))]
    best_effort: Switch,
}

/// What follows the end of a process.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = optional)]
#[expect(dead_code, reason = "for the schema only")]
struct Restart {
    /// After which ends it is started again. Default: always.
    #[schemars(extend("default" = "always"))]
    when: When,
    /// The wait before the first restart, doubled for each further one. Default: 200ms.
    #[schemars(extend("default" = "200ms"))]
    backoff: Time,
    /// The longest wait. Default: 30s.
    #[schemars(extend("default" = "30s"))]
    max_backoff: Time,
    /// So many failures within the time of `within`, and it stays down until asked. Default: 10.
    #[schemars(extend("default" = 10))]
    give_up_after: Count,
    /// The time in which failures are counted. Default: 5m.
    #[schemars(extend("default" = "5m"))]
    within: Time,
}

/// A command that is a tool. It has `run` or `shell`.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = optional)]
#[schemars(extend("oneOf" = [{"required": ["run"]}, {"required": ["shell"]}]))]
#[expect(dead_code, reason = "for the schema only")]
struct Tool {
    /// What it does, for who calls it.
    description: Word,
    /// A name for people.
    title: Word,
    /// A group for people.
    category: Word,
    /// Its version.
    version: Word,
    /// What it takes, by name. Nothing else is taken.
    parameters: Option<BTreeMap<String, Parameter>>,
    /// A JSON Schema instead of parameters.
    argument_schema: Option<BTreeMap<String, serde_json::Value>>,
    /// The program and its arguments, never a shell.
    run: Argv,
    /// A script for /bin/sh. Arguments reach it only as variables, $ARG_NAME; nothing in it expands here.
    shell: Word,
    /// What it reads from stdin: a text with {name}. Default: nothing.
    stdin: Word,
    /// What becomes of what it prints. Default: text.
    #[schemars(extend("default" = "text"))]
    output: Output,
    /// A JSON Schema of the result. Default: that of output.
    output_schema: Option<BTreeMap<String, serde_json::Value>>,
    /// The exit codes that are no error. Default: 0.
    #[schemars(extend("default" = 0))]
    accept_exit: ExitCodes,
    /// How long one call may take. Default: what the toolbox says.
    timeout: Time,
    /// The folder it starts in. Default: that of the toolbox.
    cwd: Word,
    /// Variables it gets, over those of the toolbox. Never shown anywhere.
    env: Option<BTreeMap<String, Word>>,
    /// What it does to the world.
    hints: Option<Hints>,
}

/// What a tool takes.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = type_required)]
#[expect(dead_code, reason = "for the schema only")]
struct Parameter {
    /// string, number, integer, boolean, array or object.
    r#type: Type,
    /// What it means, for who calls the tool.
    description: Option<String>,
    /// Whether a call must have it. Default: false.
    #[schemars(extend("default" = false))]
    required: Option<bool>,
    /// What it is where a call leaves it out.
    default: serde_json::Value,
    /// The values it may have.
    #[schemars(extend("minItems" = 1))]
    r#enum: Option<Vec<serde_json::Value>>,
    /// Of an array: the type of its items, or a JSON Schema.
    items: serde_json::Value,
    /// A regular expression a string must match.
    pattern: Option<String>,
    /// The least number.
    minimum: Option<f64>,
    /// The greatest number.
    maximum: Option<f64>,
    /// The fewest characters.
    #[schemars(rename = "minLength")]
    min_length: Option<u32>,
    /// The most characters.
    #[schemars(rename = "maxLength")]
    max_length: Option<u32>,
    /// The format of a string, such as date or uri.
    format: Option<String>,
    /// Values to show.
    examples: Option<Vec<serde_json::Value>>,
    /// Anything else, for who reads the tool.
    metadata: Option<BTreeMap<String, serde_json::Value>>,
    /// Whether its value may begin with a - and stand as an argument of its own, where the program could take it for an option. Default: false.
    #[schemars(extend("default" = false))]
    leading_dash: Switch,
}

fn type_required(schema: &mut Schema) {
    schema.insert("required".into(), ["type"].as_slice().into());
}

/// What a tool does to the world.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = optional)]
#[expect(dead_code, reason = "for the schema only")]
struct Hints {
    /// It changes nothing.
    #[schemars(rename = "readOnly")]
    read_only: Switch,
    /// What it changes may be lost.
    destructive: Switch,
    /// Twice does no more than once.
    idempotent: Switch,
    /// It reaches beyond this machine.
    #[schemars(rename = "openWorld")]
    open_world: Switch,
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
