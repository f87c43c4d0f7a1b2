//! Files and TCP ports behind a wall (Landlock).

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope,
};

use crate::confinement::Sandbox;

/// The newest version whose every right is meant here.
const KNOWN: ABI = ABI::V6;

/// What any program needs: programs, libraries, and what is said about the machine to everybody.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/alternatives",
    "/etc/bash.bashrc",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/fonts",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/java-17-openjdk",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/locale.alias",
    "/etc/locale.conf",
    "/etc/localtime",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki",
    "/etc/profile",
    "/etc/protocols",
    "/etc/python3",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/timezone",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/self",
    "/proc/stat",
    "/proc/sys/vm/overcommit_memory",
    "/proc/uptime",
    "/proc/version",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
    "/run/systemd/resolve",
];

/// Devices that hold nothing.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Puts this process and all it becomes behind the wall.
///
/// # Errors
/// What cannot be had, unless less will do.
pub(super) fn apply(sandbox: &Sandbox, program: &Path, given: &[PathBuf]) -> Result<(), String> {
    match wall(sandbox, program, given) {
        Ok(RulesetStatus::NotEnforced) if !sandbox.best_effort => Err("this system has no Landlock".to_owned()),
        Ok(_) => Ok(()),
        Err(_) if sandbox.best_effort => Ok(()),
        Err(why) => Err(why),
    }
}

fn wall(sandbox: &Sandbox, program: &Path, given: &[PathBuf]) -> Result<RulesetStatus, String> {
    let refused = |error: landlock::RulesetError| error.to_string();
    let mut ruleset = Ruleset::default()
        // What an older kernel does not know, such as signals; without any Landlock the status says so.
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(KNOWN))
        .and_then(|ruleset| ruleset.scope(Scope::from_all(KNOWN)))
        .map_err(refused)?;
    if !sandbox.network {
        ruleset = ruleset.handle_access(AccessNet::from_all(KNOWN)).map_err(refused)?;
    }
    let mut ruleset = ruleset.create().map_err(refused)?;
    let own = Path::new("/proc/self/exe").to_path_buf();
    let read = AccessFs::from_read(KNOWN);
    let system = SYSTEM.iter().map(PathBuf::from);
    for path in system
        .chain(sandbox.needed.iter().cloned())
        .chain([program.to_path_buf(), own])
    {
        ruleset = open(ruleset, &path, read, true)?;
    }
    for path in &sandbox.read {
        ruleset = open(ruleset, path, read, false)?;
    }
    for path in sandbox.write.iter().chain(given) {
        ruleset = open(ruleset, path, written(), false)?;
    }
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    for path in DEVICES {
        ruleset = open(ruleset, Path::new(path), device, true)?;
    }
    let status = ruleset.restrict_self().map_err(refused)?;
    Ok(status.ruleset)
}

/// Everything but new device files, which would be a way around the wall for root.
fn written() -> BitFlags<AccessFs> {
    AccessFs::from_all(KNOWN) & !(AccessFs::MakeChar | AccessFs::MakeBlock)
}

/// Opens the wall for `path`; one that may be missing is left out where it is.
fn open(
    ruleset: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
    may_be_missing: bool,
) -> Result<RulesetCreated, String> {
    let shown = path.display();
    let handle = match PathFd::new(path) {
        Ok(handle) => handle,
        Err(_) if may_be_missing => return Ok(ruleset),
        Err(error) => return Err(format!("{shown} cannot be opened: {error}")),
    };
    // A file has no rights of folders.
    let access = if path.is_dir() {
        access
    } else {
        access & AccessFs::from_file(KNOWN)
    };
    ruleset
        .add_rule(PathBeneath::new(handle, access))
        .map_err(|error| format!("{shown}: {error}"))
}
