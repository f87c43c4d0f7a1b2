//! shim
#![allow(missing_docs, dead_code)]
pub mod answer {
    pub struct Noise;
    impl Noise {
        pub fn hint(&self) -> Option<&'static str> {
            None
        }
    }
    pub enum Line<'a> {
        Answer { id: u64, outcome: Result<&'a str, String> },
        Faulty { id: Option<u64>, why: String },
        NullId { error: String },
        ToolsChanged,
        Progress { call: Option<u64> },
        Noise(Noise),
        Blank,
    }
    pub fn parse(line: &[u8]) -> Line<'_> {
        let Ok(text) = std::str::from_utf8(line) else {
            return Line::Noise(Noise);
        };
        let Ok(m) = crate::json::Members::parse(text) else {
            return Line::Noise(Noise);
        };
        let Some(id) = m.get("id").and_then(|r| r.get().parse().ok()) else {
            return Line::Noise(Noise);
        };
        if let Some(r) = m.get("result") {
            return Line::Answer {
                id,
                outcome: Ok(r.get()),
            };
        }
        if let Some(r) = m.get("error") {
            return Line::Answer {
                id,
                outcome: Err(crate::json::string(r).unwrap_or_default().into_owned()),
            };
        }
        Line::Noise(Noise)
    }
    pub fn scan_id(_: &[u8]) -> Option<u64> {
        None
    }
    pub fn sample(l: &[u8]) -> String {
        String::from_utf8_lossy(l).into_owned()
    }
}
pub mod request {
    pub enum Request<'a> {
        Describe {
            id: u64,
            toolbox_id: &'a str,
            config: &'a str,
        },
        Call {
            id: u64,
            name: &'a str,
            kwargs: &'a str,
            context: Option<&'a str>,
        },
        Cancel {
            target: u64,
        },
    }
    impl Request<'_> {
        pub fn write(&self, out: &mut Vec<u8>) {
            let s = match self {
                Self::Describe { id, toolbox_id, config } => format!(
                    r#"{{"id":{id},"op":"describe","protocol":1,"toolbox_id":"{toolbox_id}","config":{config}}}"#
                ),
                Self::Call { id, name, kwargs, .. } => {
                    format!(r#"{{"id":{id},"op":"call","name":"{name}","kwargs":{kwargs}}}"#)
                }
                Self::Cancel { target } => format!(r#"{{"op":"cancel","target":{target}}}"#),
            };
            out.extend_from_slice(s.as_bytes());
            out.push(b'\n');
        }
    }
}
pub mod describe {
    #[derive(Debug, Clone, Copy, Default)]
    pub struct Capabilities {
        pub context: bool,
        pub cancel: bool,
        pub concurrent: bool,
    }
    pub struct Description {
        pub capabilities: Capabilities,
        pub tools: Vec<serde_json::Value>,
    }
    impl Description {
        pub fn parse(raw: &str) -> Result<Self, String> {
            let v: serde_json::Value = serde_json::from_str(raw).map_err(|e| e.to_string())?;
            Ok(Self {
                capabilities: Capabilities {
                    concurrent: raw.contains("concurrent"),
                    ..Default::default()
                },
                tools: v["tools"].as_array().cloned().ok_or("no tools")?,
            })
        }
        pub fn warnings(&self) -> impl Iterator<Item = String> + use<> {
            std::iter::empty()
        }
    }
}
