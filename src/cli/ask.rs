//! The commands that ask over the bus: one request, its answer, and how it is shown.

use std::io::Read as _;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

use super::answer::Whom;
use super::args::{AskArgs, CallArgs, DiscoverArgs, GetArgs, InvokeArgs, ListArgs, ReloadArgs, ToolArgs};
use super::hosting::Hosting;
use super::output::Output;
use super::request::{Request, Value, object};
use super::wire::{Silence, Wire};
use super::{answer, arguments, example, listing, spell};
use crate::error::Error;
use crate::json::Text;
use crate::topics;

/// How long a call may take by default.
const CALL: Duration = Duration::from_secs(30);
/// How long a look-up may take by default.
const LOOK_UP: Duration = Duration::from_secs(10);
/// How long answers are collected by default.
const COLLECT: Duration = Duration::from_secs(3);
/// How long the bus itself is waited for.
const CONNECT: Duration = Duration::from_secs(5);
/// After how long a person is told that the answer is still to come.
const PATIENCE: Duration = Duration::from_secs(2);

/// `toolhost call`
pub(super) async fn call(args: &CallArgs, output: Output, hosting: &dyn Hosting) -> Result<(), Error> {
    let kwargs = kwargs(&args.arguments)?;
    let topic = if args.predecessor {
        topics::predecessor(&args.toolbox)
    } else {
        topics::CALL.to_owned()
    };
    let data = object(&[
        ("toolbox_id", Value::String(&args.toolbox)),
        ("name", Value::String(&args.tool)),
        ("kwargs", Value::Json(&kwargs)),
    ]);
    let ask = Ask {
        request: Request::new(topic, data),
        whom: Whom::Toolbox(&args.toolbox),
        time: args.ask.timeout.unwrap_or(CALL),
        output,
        hosting,
    };
    ask.result(&args.ask).await
}

/// `toolhost invoke`
pub(super) async fn invoke(args: &InvokeArgs, output: Output, hosting: &dyn Hosting) -> Result<(), Error> {
    let kwargs = kwargs(&args.arguments)?;
    let data = object(&[("name", Value::String(&args.tool)), ("args", Value::Json(&kwargs))]);
    let ask = Ask::service(
        "ovos.tools.invoke",
        data,
        args.ask.timeout.unwrap_or(CALL),
        output,
        hosting,
    );
    ask.result(&args.ask).await
}

/// `toolhost get`
pub(super) async fn get(args: &GetArgs, output: Output, hosting: &dyn Hosting) -> Result<(), Error> {
    let data = object(&[("name", Value::String(&args.tool))]);
    let ask = Ask::service(
        "ovos.tools.get",
        data,
        args.ask.timeout.unwrap_or(LOOK_UP),
        output,
        hosting,
    );
    let data = ask.one(&args.ask).await?;
    output.json(answer::whole(data.as_str())?)
}

/// `toolhost list`
pub(super) async fn list(args: &ListArgs, output: Output, hosting: &dyn Hosting) -> Result<(), Error> {
    let time = args.ask.timeout.unwrap_or(LOOK_UP);
    let ask = Ask::service("ovos.tools.list", "{}".to_owned(), time, output, hosting);
    let data = ask.one(&args.ask).await?;
    show_tools(answer::tools(data.as_str())?, args.show.json, &args.ask, output)
}

/// `toolhost reload`
pub(super) async fn reload(args: &ReloadArgs, output: Output, hosting: &dyn Hosting) -> Result<(), Error> {
    let time = args.ask.timeout.unwrap_or(CALL);
    let ask = Ask::service("ovos.tools.reload", "{}".to_owned(), time, output, hosting);
    let data = ask.one(&args.ask).await?;
    show_tools(answer::tools(data.as_str())?, args.show.json, &args.ask, output)
}

/// `toolhost discover`
pub(super) async fn discover(args: &DiscoverArgs, output: Output, hosting: &dyn Hosting) -> Result<(), Error> {
    let ask = Ask {
        request: Request::new(topics::DISCOVER, "{}"),
        whom: Whom::Everybody,
        time: args.ask.timeout.unwrap_or(COLLECT),
        output,
        hosting,
    };
    let answers = ask.all(&args.ask).await?;
    if args.show.json || !output.stdout_is_terminal {
        let answers: Vec<&str> = answers.iter().map(Text::as_str).collect();
        return output.json(&format!("[{}]", answers.join(",")));
    }
    // The answers of others are as good as they are: one nobody can read hides none of the rest.
    let groups: Vec<_> = answers
        .iter()
        .filter_map(|data| answer::toolbox(data.as_str()).ok())
        .collect();
    show_groups(&groups, &args.ask, output)
}

/// The arguments as one JSON object.
fn kwargs(args: &ToolArgs) -> Result<String, Error> {
    let Some(json) = &args.json else {
        return Ok(arguments::from_pairs(&args.arguments)?);
    };
    let (text, origin) = match json.strip_prefix('@') {
        Some(file) => {
            let text = std::fs::read_to_string(file)
                .map_err(|error| Error::usage(format!("cannot read the arguments in {file}: {error}")))?;
            (text, file)
        }
        None if json == "-" => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .map_err(|error| Error::usage(format!("cannot read the arguments from stdin: {error}")))?;
            (text, "stdin")
        }
        None => (json.clone(), "--json"),
    };
    Ok(arguments::from_object(&text, origin)?)
}

fn show_tools(tools: &str, json: bool, args: &AskArgs, output: Output) -> Result<(), Error> {
    if json || !output.stdout_is_terminal {
        return output.json(tools);
    }
    show_groups(&listing::by_toolbox(answer::definitions(tools)?), args, output)
}

fn show_groups(groups: &[(String, Vec<serde_json::Value>)], args: &AskArgs, output: Output) -> Result<(), Error> {
    output.data(listing::tools_table(groups, output.colors_stdout()).as_bytes())?;
    if let Some(line) = listing::first_call(groups) {
        let place = match (&args.bus, &args.config) {
            (Some(url), _) => format!(" --bus {}", example::quoted(url)),
            (None, Some(config)) => format!(" --config {}", example::quoted(&config.to_string_lossy())),
            (None, None) => String::new(),
        };
        output.tell_a_person(&spell::plain(&format!("\nCall one: {line}{place}")));
    }
    Ok(())
}

/// The end of `future`, unless Ctrl-C or SIGTERM comes first.
async fn unless_interrupted<T>(future: impl Future<Output = T>) -> Result<T, Error> {
    let no_handler = |error| Error::failed(format!("cannot handle signals: {error}"));
    let mut interrupt = signal(SignalKind::interrupt()).map_err(no_handler)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(no_handler)?;
    tokio::select! {
        done = future => Ok(done),
        _ = interrupt.recv() => Err(Error::failed("interrupted")),
        _ = terminate.recv() => Err(Error::failed("terminated")),
    }
}

/// One request, and what is needed to say why it has no answer.
struct Ask<'a> {
    request: Request,
    whom: Whom<'a>,
    /// How long the answer may take.
    time: Duration,
    output: Output,
    hosting: &'a dyn Hosting,
}

impl<'a> Ask<'a> {
    /// A request to the tool service.
    fn service(topic: &'a str, data: String, time: Duration, output: Output, hosting: &'a dyn Hosting) -> Self {
        Self {
            request: Request::new(topic, data),
            whom: Whom::Service(topic),
            time,
            output,
            hosting,
        }
    }

    /// Prints the result of a call.
    async fn result(&self, args: &AskArgs) -> Result<(), Error> {
        let (data, names) = self.one_and_names(args).await?;
        match answer::result(data.as_str()) {
            Ok(result) => self.output.json(result),
            Err(error) if args.config.is_some() => Err(answer::of_own_hosting(&error, &names)),
            Err(error) => Err(error),
        }
    }

    /// The one answer.
    async fn one(&self, args: &AskArgs) -> Result<Text, Error> {
        self.one_and_names(args).await.map(|(data, _)| data)
    }

    /// The one answer; where that knows no such tool and the toolboxes are hosted here, also which tools there are.
    async fn one_and_names(&self, args: &AskArgs) -> Result<(Text, Vec<String>), Error> {
        let mut attached = self.attach(args).await?;
        let bus = attached.wire.bus.clone();
        let waiting = format!(
            "waiting for an answer from {bus}, {} at most",
            humantime::format_duration(self.time)
        );
        let asked = self
            .patiently(&waiting, attached.wire.ask(&self.request, self.time))
            .await;
        let mut names = Vec::new();
        if let Ok(data) = &asked
            && args.config.is_some()
            && answer::knows_no_such_tool(data.as_str())
        {
            let list = self.request.beside("ovos.tools.list", "{}");
            let listed = attached.wire.ask(&list, LOOK_UP).await;
            names = listed.map(|data| answer::names(data.as_str())).unwrap_or_default();
        }
        attached.detach().await;
        let data = asked.map_err(|silence| self.silence(silence, &bus))?;
        Ok((data, names))
    }

    /// Every answer; none at all is an error.
    async fn all(&self, args: &AskArgs) -> Result<Vec<Text>, Error> {
        let mut attached = self.attach(args).await?;
        let bus = attached.wire.bus.clone();
        if attached.toolbox_ids.is_none() {
            let time = humantime::format_duration(self.time);
            self.output
                .tell_a_person(&format!("collecting answers on {bus} for {time}"));
        }
        let enough = attached.toolbox_ids.as_ref().map(Vec::len);
        let collected = unless_interrupted(attached.wire.collect(&self.request, self.time, enough)).await;
        attached.detach().await;
        match collected? {
            Ok(answers) if answers.is_empty() && enough != Some(0) => Err(self.silence(Silence::Timeout, &bus)),
            Ok(answers) => Ok(answers),
            Err(silence) => Err(self.silence(silence, &bus)),
        }
    }

    async fn attach(&self, args: &AskArgs) -> Result<Attached, Error> {
        let key = self.request.key();
        let Some(config) = &args.config else {
            let mut attached = self.hosting.join_bus(args, key)?;
            let bus = attached.wire.bus.clone();
            let limit = CONNECT.min(self.time);
            let waiting = format!("waiting for the bus at {bus}");
            let connected = self.patiently(&waiting, attached.wire.connected(limit)).await;
            return match connected {
                Ok(()) => Ok(attached),
                Err(silence) => Err(self.silence(silence, &bus)),
            };
        };
        let toolbox = match self.whom {
            Whom::Toolbox(id) => Some(id),
            Whom::Service(_) | Whom::Everybody => None,
        };
        let attached = self.hosting.host_for_one_request(config, toolbox, key).await?;
        match (toolbox, &attached.toolbox_ids) {
            (Some(toolbox), Some(ids)) if !ids.iter().any(|id| id == toolbox) => {
                let error = Error::usage(format!("{} has no toolbox '{toolbox}'", config.display()));
                let error = error.with_hint(format!("it has {}", listing::quoted(ids)));
                attached.detach().await;
                Err(error)
            }
            _ => Ok(attached),
        }
    }

    fn silence(&self, silence: Silence, bus: &str) -> Error {
        answer::silence(silence, bus, self.whom, self.time)
    }

    /// Waits for `future`, and tells a person so where it takes long.
    async fn patiently<T>(&self, waiting: &str, future: impl Future<Output = T>) -> T {
        let mut future = std::pin::pin!(future);
        if let Ok(done) = tokio::time::timeout(PATIENCE, &mut future).await {
            return done;
        }
        self.output.tell_a_person(waiting);
        future.await
    }
}

/// A bus that can be asked, and what there is to end afterwards.
pub struct Attached {
    /// The way to the bus.
    pub wire: Wire,
    /// The toolboxes hosted for this one request; `None` on a bus where anybody may answer.
    pub toolbox_ids: Option<Vec<String>>,
    /// Ends the attachment, and whatever is hosted for it, in good order.
    pub end: std::pin::Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Attached {
    pub(super) async fn detach(self) {
        drop(self.wire);
        self.end.await;
    }
}
