//! Programs that would make more of a value than an argument: an option, shell text, code, the program itself.

use super::{argv, filled, unfit};

#[test]
fn the_end_of_options_of_a_wrapper_is_not_that_of_the_program_behind_it() {
    let dash = r#"{"a":"-x"}"#;
    for run in [
        r#"["env","--","grep","{a}"]"#,
        r#"["/usr/bin/env","-i","--","grep","{a}"]"#,
        r#"["timeout","-s","KILL","--","5","ls","{a}"]"#,
        r#"["timeout","5","--","ls","{a}"]"#,
        r#"["nice","-n","5","--","ls","{a}"]"#,
        r#"["nice",["-n","5","--","ls"],"{a}"]"#,
        r#"["unshare","-r","--","ls","{a}"]"#,
        r#"["sudo","-u","bob","--","ls","{a}"]"#,
        r#"["sudo","--other-user","bob","--","ls","{a}"]"#,
        r#"["sudo","--","nice","--","ls","{a}"]"#,
        r#"["systemd-run","--user","--unit","x","--","ls","{a}"]"#,
        r#"["systemd-run","--new-option","x","--","ls","{a}"]"#,
        r#"["bwrap","--ro-bind","/","/","--","ls","{a}"]"#,
        r#"["xargs","-n","1","--","ls","{a}"]"#,
        r#"["stdbuf","-oL","--","ls","{a}"]"#,
        r#"["setsid","--","ls","{a}"]"#,
        r#"["flock","x.lock","--","ls","{a}"]"#,
        r#"["flock","--","x.lock","ls","{a}"]"#,
        r#"["chroot","--","/x","ls","{a}"]"#,
        r#"["nohup","--","ls","{a}"]"#,
        r#"["ionice","-c","3","--","ls","{a}"]"#,
        r#"["taskset","--","1","ls","{a}"]"#,
        r#"["prlimit","--as=1","--","env","--","ls","{a}"]"#,
        r#"["docker","run","--","image","ls","{a}"]"#,
        r#"["docker","run","image","ls","--","{a}"]"#,
        r#"["env","-S","nice --","ls","{a}"]"#,
    ] {
        let fault = filled(run, dash).unwrap_err();
        assert!(fault.starts_with("a: starts with '-'"), "{run}: {fault}");
    }
    for run in [
        r#"["env","--","grep","--","{a}"]"#,
        r#"["env","grep","--","{a}"]"#,
        r#"["sudo","-n","grep","--","{a}"]"#,
        r#"["timeout","-s","KILL","--","5","ls","--","{a}"]"#,
        r#"["timeout","--signal=KILL","-k5","5","ls","--","{a}"]"#,
        r#"["sudo","-u","bob","--","nice","-5","--","ls","--","{a}"]"#,
        r#"["bwrap","--ro-bind","/","/","--","ls","--","{a}"]"#,
        r#"["systemd-run","--new-option","x","--","ls","--","{a}"]"#,
        r#"["stdbuf","-oL","env","A=1","ls","--","{a}"]"#,
        r#"["flock","--","x.lock","ls","--","{a}"]"#,
        r#"["docker","run","--","image","ls","--","{a}"]"#,
        r#"["sh","-c","ls -- \"$1\"","--","{a}"]"#,
        r#"["bash","x.sh","--","{a}"]"#,
    ] {
        assert!(filled(run, dash).is_ok(), "{run}");
    }
}

#[test]
fn no_value_becomes_shell_text() {
    for run in [
        r#"["sh","-c","echo {x}"]"#,
        r#"["/bin/bash","-lc","echo {x}"]"#,
        r#"["dash","-e","-c","echo {x}"]"#,
        r#"["zsh","-ec","{x}"]"#,
        r#"["bash","-c","-e","{x}"]"#,
        r#"["bash","-o","pipefail","-c","{x}"]"#,
        r#"["bash","-c","-o","pipefail","{x}"]"#,
        r#"["ksh","-c","--","{x}"]"#,
        r#"["sh",["-c","{x...}"]]"#,
        r#"["sh","-{o}","echo"]"#,
        r#"["busybox","sh","-c","{x}"]"#,
        r#"["busybox-sh","-c","{x}"]"#,
        r#"["env","A=1","sh","-c","{x}"]"#,
        r#"["sudo","-u","bob","bash","-c","{x}"]"#,
        r#"["nice","-n","5","ash","-c","{x}"]"#,
        r#"["timeout","5","sh","-c","{x}"]"#,
        r#"["env","sudo","nice","timeout","5","/usr/bin/sh","-c","{x}"]"#,
        r#"["find",".","-name","sh","-exec","sh","-c","{x}",";"]"#,
        r#"["fish","--command=echo {x}"]"#,
        r#"["su","bob","-c","echo {x}"]"#,
        r#"["sudo","runuser","-u","bob","--command","{x}"]"#,
        r#"["ssh","-p","22","-t","host","ls","{x}"]"#,
        r#"["timeout","5","ssh","host","{x}"]"#,
        r#"["env","-S","grep {x}"]"#,
        r#"["env","--split-string=grep {x}"]"#,
        r#"["env","-u","FOO","-S","{x}"]"#,
        r#"["env","-iS{x}"]"#,
        r#"["env","-i{x}","ls"]"#,
        r#"["env","-S","{x?}ls"]"#,
        r#"["env","-S","bash -c","{x}"]"#,
        r#"["env","-Sbash -c","{x}"]"#,
        r#"["env","--split-string=-i bash -c","{x}"]"#,
        r#"["env","--split-string","bash -c","{x}"]"#,
        r#"["script","-qc","{x}","/dev/null"]"#,
        r#"["script","-q","-c{x}","/dev/null"]"#,
        r#"["script","--command","{x}"]"#,
        r#"["flock","x.lock","-c","{x}"]"#,
        r#"["watch","{x}"]"#,
        r#"["watch","-g","ls","{x}"]"#,
        r#"["timeout","5","watch","ls {x}"]"#,
        r#"["parallel","echo","{x}"]"#,
        r#"["parallel","echo",":::","{x...}"]"#,
        r#"["hyperfine","{x}"]"#,
        r#"["eval","{x}"]"#,
    ] {
        assert!(unfit(run).contains("must never become shell text"), "{run}");
    }
    for run in [
        r#"["sh","-c","echo \"$1\"","sh","{x}"]"#,
        r#"["bash","-o","pipefail","-c","echo \"$1\"","sh","{x}"]"#,
        r#"["env","A={x}","sh","-c","echo \"$A\""]"#,
        r#"["timeout","{x}","sh","-c","date"]"#,
        r#"["sh","./script.sh","-c","{x}"]"#,
        r#"["grep","-c","sh","{x}"]"#,
        r#"["ssh","-o","ConnectTimeout={x}","-p","{x}","{x}","uptime"]"#,
        r#"["su","-c","uptime","{x}"]"#,
        r#"["grep","sh","-c","{x}"]"#,
        r#"["env","grep","-oS{x}"]"#,
        r#"["env","-S","grep -o","{y}","{x}"]"#,
        r#"["bash","-x{debug?}","./script.sh","{x}"]"#,
        r#"["script","-qc","uptime","{x}"]"#,
        r#"["flock","-w","{x}","{x}","ls","{x}"]"#,
    ] {
        argv(run);
    }
    for (run, reads) in [
        (r#"["sh"]"#, true),
        (r#"["bash","-e"]"#, true),
        (r#"["bash","-o","pipefail"]"#, true),
        (r#"["bash","-s","x"]"#, true),
        (r#"["env","A=1","bash"]"#, true),
        (r#"["bash","-"]"#, true),
        (r#"["bash","-e","--"]"#, true),
        (r#"["bash","/dev/stdin"]"#, true),
        (r#"["bash","--","/proc/self/fd/0","x"]"#, true),
        (r#"["sh","/dev/fd/0"]"#, true),
        (r#"["sh","{x}"]"#, true),
        (r#"["find",".","-exec","sh",";"]"#, true),
        (r#"["at","now"]"#, true),
        (r#"["batch"]"#, true),
        (r#"["parallel"]"#, true),
        (r#"["crontab","-"]"#, true),
        (r#"["python3"]"#, true),
        (r#"["python3.11","-I","-"]"#, true),
        (r#"["timeout","5","perl","/dev/stdin"]"#, true),
        (r#"["node","--no-warnings"]"#, true),
        (r#"["node","--no-warnings","-"]"#, true),
        (r#"["awk","-f","-","x"]"#, true),
        (r#"["awk","--file=/dev/stdin"]"#, true),
        (r#"["awk","{{print}}"]"#, false),
        (r#"["awk","-f","x.awk","-"]"#, false),
        (r#"["python3","-c","import sys"]"#, false),
        (r#"["python3","-m","json.tool"]"#, false),
        (r#"["python3","x.py","-"]"#, false),
        (r#"["node","--no-warnings","x.js"]"#, false),
        (r#"["perl","-ne","print"]"#, false),
        (r#"["bash","-","x.sh"]"#, false),
        (r#"["sh","-c","cat"]"#, false),
        (r#"["sh","./x.sh"]"#, false),
        (r#"["cat"]"#, false),
    ] {
        assert_eq!(argv(run).reads_script(), reads, "{run}");
    }
}

#[test]
fn no_value_chooses_the_program() {
    for run in [
        r#"["env","{x}","hello"]"#,
        r#"["env","{x}=1","hello"]"#,
        r#"["env","A{x}","hello"]"#,
        r#"["env","-","{x}"]"#,
        r#"["env","-i","ls{x?}","{y}"]"#,
        r#"["nice","-{x}","ls"]"#,
        r#"["env","--{x}","ls"]"#,
        r#"["env","-u","{x...}","ls"]"#,
        r#"["env","-u{x?}","{y}","ls"]"#,
        r#"["env","-S","A=1 B=2","{x}"]"#,
        r#"["timeout","5","{x}"]"#,
        r#"["timeout","5","/usr/bin/{x}"]"#,
        r#"["timeout","{x...}","ls"]"#,
        r#"["timeout","5",["ls","{x}"],"{y}"]"#,
        r#"["nice","-n","5","{x}"]"#,
        r#"["nice","-n","5","--","{x}"]"#,
        r#"["sudo","nice","nohup","{x}"]"#,
        r#"["flock","x.lock","{x}"]"#,
        r#"["chroot","/x","{x}"]"#,
        r#"["xargs","-n","1","{x}"]"#,
        r#"["sudo","--new-option","{x}","ls"]"#,
        r#"["sudo","--new-option","ls","{x}"]"#,
        r#"["sudo","--new-option","{x}","--","ls"]"#,
        r#"["bwrap","--ro-bind","/","/","ls","{x}"]"#,
        r#"["bwrap","--ro-bind","/","/","--","{x}"]"#,
        r#"["busybox","{x}"]"#,
    ] {
        assert!(unfit(run).contains("must never choose the program"), "{run}");
    }
    for run in [
        r#"["timeout","{x}","ls","{y}"]"#,
        r#"["timeout","-k","{x}","--","{x}","ls","{y}"]"#,
        r#"["nice","-n","{x}","ls","{y}"]"#,
        r#"["nice",["-n","{x}"],"ls","{y}"]"#,
        r#"["nice","-n{x}","ls"]"#,
        r#"["env","A={x}","-","ls"]"#,
        r#"["sudo","--user={x}","A={x}","ls","{y}"]"#,
        r#"["sudo","--new-option={x}","ls","{y}"]"#,
        r#"["sudo","-n{x?}","ls","{y}"]"#,
        r#"["flock","{x}","ls","{y}"]"#,
        r#"["chroot","{x}","ls"]"#,
        r#"["bwrap","--bind","{x}","{x}","--","ls","{y}"]"#,
        r#"["xargs","-n","{x}"]"#,
        r#"["find","{x}","-name","{y}"]"#,
        r#"["docker","start","{x}"]"#,
    ] {
        argv(run);
    }
}

#[test]
fn what_stands_before_the_program_cannot_be_left_out() {
    let why = "x: must not be left out here, for what stands behind it in 'run' would take its place: ";
    for run in [
        r#"["flock","{x}","ls","{y}"]"#,
        r#"["flock",["-w","5","{x}"],"ls","{y}"]"#,
        r#"["env","-u","{x}","ls","{y}"]"#,
        r#"["bwrap","--bind","{x}","/","--","ls","{y}"]"#,
        r#"["awk","-F","{x}","{{print $1}}","{y}"]"#,
        r#"["python3","-W","{x}","-c","print(1)","{y}"]"#,
    ] {
        let fault = filled(run, r#"{"y":"/usr/bin/id"}"#).unwrap_err();
        assert!(fault.starts_with(why), "{run}: {fault}");
        assert!(filled(run, r#"{"x":"1","y":"/usr/bin/id"}"#).is_ok(), "{run}");
    }
    for run in [
        r#"["env",["-u","{x}"],"ls","{y}"]"#,
        r#"["env","A={x}","ls","{y}"]"#,
        r#"["sudo","--user={x}","ls","{y}"]"#,
        r#"["awk",["-F","{x}"],"{{print $1}}","{y}"]"#,
    ] {
        assert!(filled(run, r#"{"y":"z"}"#).is_ok(), "{run}");
    }
}

#[test]
fn no_value_becomes_code() {
    for run in [
        r#"["python3","-c","print({x})"]"#,
        r#"["/usr/bin/python3.11","-Ic","{x}"]"#,
        r#"["python","-W","ignore","-cprint({x})"]"#,
        r#"["python3","-c","1{x?}","{y}"]"#,
        r#"["python3","-{x}","s.py"]"#,
        r#"["perl","-e","print {x}"]"#,
        r#"["perl","-lane","print","-e","{x}"]"#,
        r#"["perl","-0777","-pe","s/{x}//"]"#,
        r#"["perl","-M{x}","s.pl"]"#,
        r#"["ruby","-e","puts {x}"]"#,
        r#"["node","-e","{x}"]"#,
        r#"["node","-pe","{x}"]"#,
        r#"["node","--eval={x}"]"#,
        r#"["node","--no-warnings","--print","{x}"]"#,
        r#"["node","--loader","y.js","-e","{x}"]"#,
        r#"["php","-r","{x}"]"#,
        r#"["lua5.4","-l","y","-e","{x}"]"#,
        r#"["awk","{{print {x}}}"]"#,
        r#"["awk","{x}"]"#,
        r#"["awk","{x...}"]"#,
        r#"["gawk","-F",":","-v","a=b","/{x}/"]"#,
        r#"["awk","--","{x}"]"#,
        r#"["awk",["{{print}}","{x}"],"{y}"]"#,
        r#"["gawk","-f","x.awk","-e","{x}"]"#,
        r#"["gawk","--source={x}"]"#,
        r#"["busybox","awk","{x}"]"#,
        r#"["timeout","5","python3","-c","{x}"]"#,
        r#"["find",".","-exec","perl","-e","{x}",";"]"#,
        r#"["env","-S","python3 -c","{x}"]"#,
    ] {
        assert!(unfit(run).contains("must never become program text"), "{run}");
    }
    for run in [
        r#"["python3","-c","import sys; print(sys.argv[1])","{x}"]"#,
        r#"["python3","-W{x}","-X","{y}","s.py","-c","{x}"]"#,
        r#"["python3","-v{x?}","s.py","{x}"]"#,
        r#"["python3","-m","json.tool","{x}"]"#,
        r#"["perl","-ne","print","--","{x}"]"#,
        r#"["perl","-I{x}","s.pl","-e","{y}"]"#,
        r#"["node","-e","console.log(process.argv[1])","{x}"]"#,
        r#"["node","--max-old-space-size={x}","s.js","{y}"]"#,
        r#"["awk","-v","a={x}","{{print a}}","{y}"]"#,
        r#"["awk","-F{x}","{{print $1}}","b={x}","{y...}"]"#,
        r#"["awk","-f","x.awk","{x}"]"#,
        r#"["jq","{x}"]"#,
        r#"["sed","s/{x}//"]"#,
        r#"["grep","python3","-c","{x}"]"#,
    ] {
        argv(run);
    }
}
