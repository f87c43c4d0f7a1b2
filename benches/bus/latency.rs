//! How long a call takes.

use crate::Plan;
use crate::caller::{Caller, Plain};
use crate::parts::{Echo, Running, Shipped, bare_bus, real_bus, toolhost};
use crate::table::{Row, heading};

/// Calls a block on a bus that stalls for 40 ms with each.
const STALLED: usize = 25;
/// Calls on their way at once.
const WINDOW: usize = 256;

/// One call at a time, then many at once.
pub(crate) async fn compare(plan: &Plan) {
    on_the_real_bus(plan).await;
    on_the_embedded_bus(plan).await;
}

async fn on_the_real_bus(plan: &Plan) {
    let Some(python) = &plan.peers else { return };
    // Each on a bus of its own: a bus hands every frame to everybody.
    let (_bus, url) = real_bus(python);
    let (_host, _) = toolhost(1, Echo::Rust, Some(&url));
    let (_other_bus, other_url) = real_bus(python);
    let _service = Shipped::service(python, &other_url, 1);
    let mut ours = Caller::join(&url).await;
    ours.ready().await;
    let mut plain = Plain::join(&url).await;
    let mut theirs = Shipped::caller(python, &other_url);
    let mut shipped_to_ours = Shipped::caller(python, &url);
    let mut rows = [
        Row::new("toolhost's client to toolhost"),
        Row::new("a client that acknowledges late, to toolhost"),
        Row::new("the shipped client to toolhost"),
        Row::new("the shipped client to the shipped service"),
    ];
    for _ in 0..plan.blocks {
        rows[0].blocks.push(ours.calls(plan.calls / 4, 5).await);
        rows[1].blocks.push(plain.calls(STALLED).await);
        rows[2].blocks.push(shipped_to_ours.calls(STALLED));
        rows[3].blocks.push(theirs.calls(STALLED));
    }
    ours.leave().await;
    println!("{}", heading("one call at a time, the real ovos-messagebus"));
    for row in &rows {
        println!("{}", row.show(&rows[0]));
    }
}

/// The shipped service on a bus without Nagle's delay, with callers of both kinds.
struct Peer {
    _bus: Running,
    _service: Shipped,
    theirs: Shipped,
    ours: Caller,
}

async fn peer(plan: &Plan) -> Option<Peer> {
    let python = plan.peers.as_ref()?;
    let (bus, url) = bare_bus();
    let service = Shipped::service(python, &url, 1);
    Some(Peer {
        _bus: bus,
        _service: service,
        theirs: Shipped::caller(python, &url),
        ours: Caller::join(&url).await,
    })
}

async fn on_the_embedded_bus(plan: &Plan) {
    let (_host, url) = toolhost(1, Echo::Rust, None);
    let (_python_host, python_url) = toolhost(1, Echo::Python, None);
    let mut rust = joined(&url).await;
    let mut python = joined(&python_url).await;
    let mut peer = peer(plan).await;
    let mut one = [
        Row::new("toolhost, Rust toolbox"),
        Row::new("toolhost, Python toolbox"),
        Row::new("the shipped service, toolhost's client"),
        Row::new("the shipped service, the shipped client"),
    ];
    let mut many = [
        Row::new("toolhost, Rust toolbox"),
        Row::new("toolhost, Python toolbox"),
        Row::new("the shipped service"),
    ];
    let mut large = [Row::new("toolhost, Rust toolbox"), Row::new("the shipped service")];
    for _ in 0..plan.blocks {
        one[0].blocks.push(rust.calls(plan.calls, 5).await);
        one[1].blocks.push(python.calls(plan.calls, 5).await);
        many[0].blocks.push(vec![rust.at_once(plan.calls * 20, WINDOW).await]);
        many[1].blocks.push(vec![python.at_once(plan.calls * 4, WINDOW).await]);
        large[0].blocks.push(rust.calls(10, 1 << 20).await);
        if let Some(peer) = &mut peer {
            one[2].blocks.push(peer.ours.calls(plan.calls, 5).await);
            one[3].blocks.push(peer.theirs.calls(plan.calls));
            many[2]
                .blocks
                .push(vec![peer.ours.at_once(plan.calls * 2, WINDOW).await]);
            large[1].blocks.push(peer.ours.calls(10, 1 << 20).await);
        }
    }
    show("one call at a time, the embedded bus", &one);
    show("256 calls at once, the embedded bus, time a call", &many);
    show("1 MiB there and back, the embedded bus", &large);
    rust.leave().await;
    python.leave().await;
    if let Some(peer) = peer {
        peer.ours.leave().await;
    }
}

async fn joined(url: &str) -> Caller {
    crate::parts::listening(url);
    let mut caller = Caller::join(url).await;
    caller.ready().await;
    caller
}

fn show(what: &str, rows: &[Row]) {
    println!("{}", heading(what));
    for row in rows.iter().filter(|row| !row.blocks.is_empty()) {
        println!("{}", row.show(&rows[0]));
    }
}
