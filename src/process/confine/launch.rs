//! The launcher: sets up what its plan says, then becomes the program.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use nix::libc;

use super::{NAME, Plan, kernel, landlock, limits, seccomp, user};
use crate::process::spawn::explain;

/// The status it ends with where there is no program to become.
pub const FAILED: u8 = 126;

/// The first version of Landlock that looks at `truncate`.
const TRUNCATE: u32 = 3;

/// What a sandboxed root keeps of its powers: files of others, which the sandbox lets it read or write.
const KEPT: u32 = 1 << 1 | 1 << 2;

/// Whether the program was started as the launcher.
pub fn is_meant(typed: &[OsString]) -> bool {
    typed.first().is_some_and(|name| name == OsStr::new(NAME))
}

/// Becomes the program, or says why not.
pub fn main(typed: &[OsString]) -> String {
    let [_, plan, path, argv @ ..] = typed else {
        return format!("{NAME} is how toolhost starts what has limits; there is nothing to type here");
    };
    match become_program(&plan.to_string_lossy(), path, argv) {
        Ok(never) => match never {},
        Err(why) => why,
    }
}

fn become_program(plan: &str, path: &OsStr, argv: &[OsString]) -> Result<std::convert::Infallible, String> {
    let plan = Plan::decode(plan)?;
    let as_c = |text: &OsStr| CString::new(text.as_bytes()).map_err(|error| error.to_string());
    let words = argv.iter().map(|word| as_c(word)).collect::<Result<Vec<_>, _>>()?;
    let program = as_c(path)?;
    close_the_rest();
    hold(&plan, Path::new(path))?;
    let Err(error) = nix::unistd::execv(&program, &words);
    Err(why_not(&plan, PathBuf::from(path), error))
}

/// Whatever the host's own parent may have left open.
fn close_the_rest() {
    // SAFETY: nothing here holds a descriptor above 2; the call closes those and touches nothing else. Before Linux 5.9
    // there is no such call, and what toolhost opens closes itself.
    let _closed = unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32) };
}

fn hold(plan: &Plan, program: &Path) -> Result<(), String> {
    if let Some(umask) = plan.umask {
        nix::sys::stat::umask(nix::sys::stat::Mode::from_bits_truncate(umask));
    }
    limits::apply(&plan.limits, plan.ids.as_ref())?;
    nix::sys::prctl::set_no_new_privs().map_err(|error| format!("its privileges cannot be held: {error}"))?;
    // While everything can still be opened.
    if let Some(sandbox) = &plan.sandbox {
        landlock::apply(sandbox, program, &plan.given).map_err(|why| format!("its sandbox cannot be set up: {why}"))?;
    }
    if let Some(ids) = &plan.ids {
        user::apply(ids, &plan.given)?;
    }
    let Some(sandbox) = &plan.sandbox else { return Ok(()) };
    let is_root = nix::unistd::geteuid().is_root();
    if is_root {
        drop_powers().map_err(|error| format!("the powers of root cannot be dropped: {error}"))?;
    }
    let rules = seccomp::Rules {
        network: sandbox.network,
        is_root,
        host: nix::unistd::getppid().as_raw().unsigned_abs(),
        deny_truncate: kernel::landlock() < TRUNCATE,
    };
    match seccomp::apply(rules) {
        Err(why) if !sandbox.best_effort => Err(format!("its sandbox cannot be set up: {why}")),
        _ => Ok(()),
    }
}

/// Leaves root with [`KEPT`]; what it gave up it cannot get back, since no program may give it new privileges.
fn drop_powers() -> nix::Result<()> {
    /// `struct __user_cap_header_struct`, version 3, this process.
    const HEADER: [u32; 2] = [0x2008_0522, 0];
    /// Effective, permitted, inheritable; then the same of the upper 32.
    const POWERS: [u32; 6] = [KEPT, KEPT, 0, 0, 0, 0];
    // SAFETY: both arrays are laid out as the kernel's structures of this version, which it reads during the call.
    let done = unsafe { libc::syscall(libc::SYS_capset, HEADER.as_ptr(), POWERS.as_ptr()) };
    nix::errno::Errno::result(done).map(drop)
}

fn why_not(plan: &Plan, path: PathBuf, error: nix::Error) -> String {
    let shown = path.display();
    let other_user = plan.ids.as_ref().map(|ids| ids.uid);
    match (error, other_user) {
        (nix::Error::EACCES, _) if plan.sandbox.is_some() => format!(
            "its sandbox does not let it start '{shown}'; name the folder of what runs it under 'read' of the sandbox"
        ),
        (nix::Error::EACCES, Some(uid)) => {
            format!("user {uid} may not start '{shown}'; let that user read and execute it, and enter its folders")
        }
        (nix::Error::EAGAIN, _) => {
            format!("'{shown}' cannot be started: its user has as many processes as 'processes' allows")
        }
        (error, _) => {
            let folder = std::env::current_dir().unwrap_or_default();
            explain(&folder, path, io::Error::from(error)).to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_meant_by_its_whole_name() {
        assert!(is_meant(&[NAME.into()]));
        assert!(!is_meant(&["toolhost".into()]) && !is_meant(&[]) && !is_meant(&["/usr/bin/toolhost-launch".into()]));
    }

    #[test]
    fn without_a_plan_there_is_nothing_to_do() {
        assert!(main(&[NAME.into()]).contains("nothing to type"));
        assert!(main(&[NAME.into(), "{".into(), "/bin/true".into()]).starts_with("what it is held to"));
    }
}
