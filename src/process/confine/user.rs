//! Another user for a child.

use nix::unistd::{Gid, Group, Uid};
use serde::{Deserialize, Serialize};

/// The numbers of a user and its groups.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ids {
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) groups: Vec<u32>,
}

/// A user of this machine.
#[derive(Debug, Clone)]
pub struct User {
    /// The name; a number where the machine knows none.
    pub name: String,
    /// The home folder, `/` where the machine knows none.
    pub home: std::path::PathBuf,
    uid: Uid,
    gid: Option<Gid>,
}

/// The user of that name or number.
///
/// # Errors
/// A name that nobody has.
pub fn user(asked: &str) -> Result<User, String> {
    let number = asked.parse::<u32>().ok().map(Uid::from_raw);
    let found = match number {
        Some(uid) => nix::unistd::User::from_uid(uid),
        None => nix::unistd::User::from_name(asked),
    };
    match (found.ok().flatten(), number) {
        (Some(user), _) => Ok(User {
            name: user.name,
            home: user.dir,
            uid: user.uid,
            gid: Some(user.gid),
        }),
        (None, Some(uid)) => Ok(User {
            name: asked.to_owned(),
            home: "/".into(),
            uid,
            gid: None,
        }),
        (None, None) => Err(format!(
            "its user '{asked}' does not exist on this machine; create it (useradd --system {asked}), or name another under \
             'user'"
        )),
    }
}

fn group(asked: &str) -> Result<Gid, String> {
    if let Ok(number) = asked.parse() {
        return Ok(Gid::from_raw(number));
    }
    let found = Group::from_name(asked).ok().flatten();
    found.map(|group| group.gid).ok_or_else(|| {
        format!(
            "its group '{asked}' does not exist on this machine; create it (groupadd --system {asked}), or name another \
             under 'group'"
        )
    })
}

/// The numbers for what the configuration names; `None` where it names nothing.
///
/// # Errors
/// Names that nobody has, and a host that may not change users.
pub(super) fn ids(asked_user: Option<&str>, asked_group: Option<&str>) -> Result<Option<Ids>, String> {
    if asked_user.is_none() && asked_group.is_none() {
        return Ok(None);
    }
    let found = asked_user.map(user).transpose()?;
    let asked_gid = asked_group.map(group).transpose()?;
    let uid = found.as_ref().map_or(nix::unistd::getuid(), |user| user.uid);
    let gid = asked_gid.or(found.as_ref().and_then(|user| user.gid));
    let Some(gid) = gid else {
        return Err(format!(
            "its user {uid} has no group on this machine; name one under 'group'"
        ));
    };
    if !nix::unistd::geteuid().is_root() {
        let here = (nix::unistd::getuid(), nix::unistd::getgid());
        if here == (uid, gid) {
            return Ok(None);
        }
        let keys = if asked_user.is_some() { "user" } else { "group" };
        return Err(format!(
            "it is to run as another {keys}, which only root may start, and toolhost runs as user {}; start toolhost as \
             root, or take '{keys}' out",
            here.0
        ));
    }
    Ok(Some(Ids {
        uid: uid.as_raw(),
        gid: gid.as_raw(),
        groups: groups(found.as_ref(), gid),
    }))
}

/// Every group of the user; the one group where it has no entry.
fn groups(user: Option<&User>, gid: Gid) -> Vec<u32> {
    let named = user.and_then(|user| std::ffi::CString::new(user.name.as_str()).ok());
    let all = named.and_then(|name| nix::unistd::getgrouplist(&name, gid).ok());
    all.map_or(vec![gid.as_raw()], |all| all.into_iter().map(Gid::as_raw).collect())
}

/// Becomes that user. The pipes go with it: a script may open `/dev/stderr` anew.
///
/// # Errors
/// The step the system refuses.
pub(super) fn apply(ids: &Ids, given: &[std::path::PathBuf]) -> Result<(), String> {
    let (uid, gid) = (Uid::from_raw(ids.uid), Gid::from_raw(ids.gid));
    let refused = |what: &str| {
        let what = format!("{what} of user {uid} cannot be taken");
        move |error: nix::Error| format!("{what}: {error}")
    };
    for file in given {
        nix::unistd::chown(file, Some(uid), Some(gid)).map_err(refused("a file"))?;
    }
    nix::unistd::fchown(std::io::stdin(), Some(uid), Some(gid)).map_err(refused("stdin"))?;
    nix::unistd::fchown(std::io::stdout(), Some(uid), Some(gid)).map_err(refused("stdout"))?;
    nix::unistd::fchown(std::io::stderr(), Some(uid), Some(gid)).map_err(refused("stderr"))?;
    let groups: Vec<Gid> = ids.groups.iter().map(|gid| Gid::from_raw(*gid)).collect();
    nix::unistd::setgroups(&groups).map_err(refused("the groups"))?;
    nix::unistd::setgid(gid).map_err(refused("the group"))?;
    nix::unistd::setuid(uid).map_err(refused("the rights"))
}
