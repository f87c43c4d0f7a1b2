//! What the control socket asks, done by the registry.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;

use super::{Host, report};
use crate::control::order::{Done, End, Ordered, Orders, Reloaded};
use crate::control::status::Status;
use crate::control::verb::{Order, Verbs};
use crate::migrate::verdict::Report;
use crate::registry::{RELOAD_RUNG, Toolbox};
use crate::supervisor::lifecycle::Grace;
use crate::supervisor::orders;

/// The most patience an owner can ask for: a time that no clock can add to would end the task that tries.
const LONGEST_GRACE: Duration = Duration::from_secs(24 * 3600);

impl Verbs for Host {
    async fn status(&self) -> Status {
        report::status(self).await
    }

    fn migration(&self) -> Report {
        super::usage::report(self)
    }

    async fn order(&self, order: Order, orders: Orders) -> Ordered {
        let hosted = self.registry.toolboxes();
        let is_hosted = |id: &String| hosted.iter().any(|toolbox| toolbox.config.id == *id);
        let unknown: Vec<String> = orders.toolboxes.iter().filter(|id| !is_hosted(id)).cloned().collect();
        if !unknown.is_empty() {
            let known = hosted.iter().map(|toolbox| toolbox.config.id.clone()).collect();
            return Ordered {
                unknown,
                known,
                toolboxes: Vec::new(),
            };
        }
        let meant = |toolbox: &&Arc<Toolbox>| orders.all || orders.toolboxes.contains(&toolbox.config.id);
        let grace = Grace {
            calls: Duration::from_millis(orders.grace_ms).min(LONGEST_GRACE),
            rung: RELOAD_RUNG,
        };
        let carried_out = hosted.iter().filter(meant).map(|toolbox| {
            // Asked now, waited for side by side.
            let end = toolbox.handle.order(asked(order), grace);
            async move {
                let end = if orders.wait { Some(end.await) } else { None };
                let (done, error) = match end {
                    None => (Some(Done::Asked), None),
                    Some(Ok(Ok(done))) => (Some(told(done)), None),
                    Some(Ok(Err(why))) => (None, Some(why)),
                    Some(Err(_)) => (None, Some("its task has ended; a reload starts it anew".to_owned())),
                };
                End {
                    toolbox_id: toolbox.config.id.clone(),
                    done,
                    error,
                }
            }
        });
        Ordered {
            toolboxes: join_all(carried_out).await,
            ..Ordered::default()
        }
    }

    async fn reload(&self) -> Result<Reloaded, String> {
        let registry = Arc::clone(&self.registry);
        // A task of its own: whoever asked may go away, and it must not be left half done.
        let reload = tokio::spawn(async move { registry.reload_telling().await });
        let changes = reload
            .await
            .map_err(|_| "a fault of toolhost itself; the log says more".to_owned())??;
        Ok(Reloaded {
            added: changes.added,
            removed: changes.removed,
            changed: changes.changed,
            unchanged: changes.unchanged,
            settings: changes.settings,
        })
    }
}

fn asked(order: Order) -> orders::Order {
    match order {
        Order::Stop => orders::Order::Stop,
        Order::Start => orders::Order::Start,
        Order::Restart => orders::Order::Restart,
    }
}

fn told(done: orders::Done) -> Done {
    match done {
        orders::Done::Stopped => Done::Stopped,
        orders::Done::WasStopped => Done::WasStopped,
        orders::Done::Started => Done::Started,
        orders::Done::WasRunning => Done::WasRunning,
        orders::Done::Restarted => Done::Restarted,
        orders::Done::ReadAgain => Done::ReadAgain,
    }
}
