//! What a way is called. Pure.

use super::carry::Way;

impl Way {
    /// As the configuration and each report spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ToPredecessor => "to_predecessor",
            Self::ToStatic => "to_static",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_is_called_what_json_calls_it() {
        for way in [Way::ToPredecessor, Way::ToStatic] {
            assert_eq!(serde_json::to_value(way).unwrap(), way.name());
        }
    }
}
