//! System calls that a sandboxed program has no use for, refused with EPERM.
//!
//! A denied call fails as a missing right does, so that a program can say so and go on. The filter is a short classic BPF
//! program; it says no to a list and to a few arguments, and yes to the rest.

use nix::libc::{self, c_long, sock_filter};

/// The machine as the kernel's audit names it, little-endian ones only: the low half of an argument comes first.
#[cfg(target_arch = "x86_64")]
const MACHINE: Option<u32> = Some(0xC000_003E);
#[cfg(target_arch = "aarch64")]
const MACHINE: Option<u32> = Some(0xC000_00B7);
#[cfg(target_arch = "arm")]
const MACHINE: Option<u32> = Some(0x4000_0028);
#[cfg(target_arch = "riscv64")]
const MACHINE: Option<u32> = Some(0xC000_00F3);
#[cfg(not(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    target_arch = "arm",
    target_arch = "riscv64"
)))]
const MACHINE: Option<u32> = None;

/// Offsets in what the filter sees (`struct seccomp_data`).
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;
const SECOND_ARGUMENT: u32 = 24;

/// Numbers of the x32 calls on x86_64, which are the same calls once more.
const X32: u32 = 0x4000_0000;

/// Reaches into other processes, the kernel, mounts, or past the paths that Landlock looks at.
const NEVER: &[c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    // Does what sockets do without the calls that are refused here.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
];

/// Changes a file's owner or mode, which Landlock does not look at: for root that is every file.
const OWNERS_AND_MODES: &[c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    #[cfg(any(target_arch = "x86_64", target_arch = "arm"))]
    libc::SYS_chmod,
    #[cfg(any(target_arch = "x86_64", target_arch = "arm"))]
    libc::SYS_chown,
    #[cfg(any(target_arch = "x86_64", target_arch = "arm"))]
    libc::SYS_lchown,
    // fchmodat2, which libc does not name everywhere.
    452,
];

/// Takes a process as its first argument and does something to it.
const TO_A_PROCESS: &[c_long] = &[
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_open,
];

/// Takes a process or thread as its first argument and sets how much of the machine it gets; 0 is the caller. Others of the
/// same user, the host among them, could be brought to a crawl by it, and no wall of files stands before them.
const OF_ITSELF: &[c_long] = &[
    libc::SYS_prlimit64,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
];

/// Likewise, with what kind of number it is as the first argument and the number as the second. The first of each pair
/// is the call, the second the kind "process", the only one that can be the caller alone.
const OF_ITSELF_BY_KIND: &[(c_long, u32)] = &[(libc::SYS_setpriority, 0), (libc::SYS_ioprio_set, 1)];

/// Namespaces of its own, in which it would have rights again.
const NEW_NAMESPACES: u32 = 0x7E02_0000;

/// What the filter has to know.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// Whether sockets may be opened.
    pub(super) network: bool,
    /// Whether the program runs as root.
    pub(super) is_root: bool,
    /// The host, which it must not signal.
    pub(super) host: u32,
    /// Whether Landlock does not look at `truncate`.
    pub(super) deny_truncate: bool,
}

/// Whether there is a filter for this machine.
pub(super) fn knows_this_machine() -> bool {
    MACHINE.is_some()
}

const fn step(code: u32, jump_true: u8, jump_false: u8, k: u32) -> sock_filter {
    sock_filter {
        // Every code of BPF fits.
        code: code as u16,
        jt: jump_true,
        jf: jump_false,
        k,
    }
}

const fn load(offset: u32) -> sock_filter {
    step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, offset)
}

const fn is_equal(value: u32, jump_true: u8, jump_false: u8) -> sock_filter {
    step(
        libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
        jump_true,
        jump_false,
        value,
    )
}

const fn answer(what: u32) -> sock_filter {
    step(libc::BPF_RET | libc::BPF_K, 0, 0, what)
}

const fn refuse(errno: i32) -> sock_filter {
    answer(libc::SECCOMP_RET_ERRNO | errno.unsigned_abs())
}

fn filter(rules: Rules) -> Vec<sock_filter> {
    let call = |number: c_long| u32::try_from(number).unwrap_or(u32::MAX);
    let mut filter = vec![
        load(ARCH),
        is_equal(MACHINE.unwrap_or_default(), 1, 0),
        refuse(libc::EPERM),
        load(NUMBER),
    ];
    if cfg!(target_arch = "x86_64") {
        filter.push(step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, X32));
        filter.push(refuse(libc::EPERM));
    }
    let mut never = NEVER.to_vec();
    if rules.is_root {
        never.extend(OWNERS_AND_MODES);
    }
    if rules.deny_truncate {
        never.push(libc::SYS_truncate);
    }
    if !rules.network {
        never.push(libc::SYS_socket);
    }
    for number in never {
        filter.extend([is_equal(call(number), 0, 1), refuse(libc::EPERM)]);
    }
    // Its flags are in memory, where no filter looks. Without it, libraries use `clone`.
    filter.extend([is_equal(call(libc::SYS_clone3), 0, 1), refuse(libc::ENOSYS)]);
    filter.extend([
        is_equal(call(libc::SYS_clone), 0, 4),
        load(FIRST_ARGUMENT),
        step(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, 0, 1, NEW_NAMESPACES),
        refuse(libc::EPERM),
        answer(libc::SECCOMP_RET_ALLOW),
    ]);
    for number in TO_A_PROCESS {
        filter.extend([
            is_equal(call(*number), 0, 6),
            load(FIRST_ARGUMENT),
            is_equal(rules.host, 2, 0),
            // Its group, where it leads one.
            is_equal(rules.host.wrapping_neg(), 1, 0),
            // Everybody.
            is_equal(u32::MAX, 0, 1),
            refuse(libc::EPERM),
            answer(libc::SECCOMP_RET_ALLOW),
        ]);
    }
    for number in OF_ITSELF {
        filter.extend([
            is_equal(call(*number), 0, 3),
            load(FIRST_ARGUMENT),
            is_equal(0, 1, 0),
            refuse(libc::EPERM),
            load(NUMBER),
        ]);
    }
    for (number, process) in OF_ITSELF_BY_KIND {
        filter.extend([
            is_equal(call(*number), 0, 5),
            load(FIRST_ARGUMENT),
            is_equal(*process, 0, 2),
            load(SECOND_ARGUMENT),
            is_equal(0, 1, 0),
            refuse(libc::EPERM),
            load(NUMBER),
        ]);
    }
    filter.push(answer(libc::SECCOMP_RET_ALLOW));
    filter
}

/// Filters the calls of this process and of all it becomes. It must have given up new privileges before.
///
/// # Errors
/// A system that has no filters.
pub(super) fn apply(rules: Rules) -> Result<(), String> {
    if !knows_this_machine() {
        return Err("there is no filter of system calls for this kind of machine".to_owned());
    }
    let mut filter = filter(rules);
    let program = libc::sock_fprog {
        // Some 300 steps.
        len: u16::try_from(filter.len()).unwrap_or(u16::MAX),
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: `program` points at `len` steps, which the kernel copies during the call.
    let done = unsafe {
        libc::prctl(
            libc::PR_SET_SECCOMP,
            libc::SECCOMP_MODE_FILTER,
            &raw const program,
            0,
            0,
        )
    };
    match nix::errno::Errno::result(done) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("system calls cannot be filtered: {error}")),
    }
}
