//! The 21 monitor types (interface.md 2.1 `type`).

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

macro_rules! monitor_types {
    ($($variant:ident = $name:literal),+ $(,)?) => {
        /// What a monitor checks (interface.md 2.1 `type`).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum MonitorType {
            $(#[doc = concat!("`", $name, "`")] $variant),+
        }

        impl MonitorType {
            /// Every type, in the order of interface.md.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Returns the version 3 name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// Returns the type with this version 3 name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

monitor_types! {
    ApiProject = "api",
    MobileCloud = "mobilecloud",
    BrowserScript = "browserscript",
    EmailImap = "email-imap",
    EmailPop = "email-pop",
    EmailRoundTrip = "email-round-trip",
    EmailSmtp = "email-smtp",
    Ftp = "ftp",
    FtpSsl = "ftp-ssl",
    NameServer = "name-server",
    MobileLab = "mobilelab",
    Ping = "ping",
    CollectionApi = "collection-api",
    SecurityScan = "security-scan",
    Selenium = "selenium",
    HostAgent = "hostagent",
    Tcp = "tcp",
    Website = "website",
    WebsiteApi = "website-api",
    WebsiteSsl = "website-ssl",
    WebsiteSslApi = "website-ssl-api",
}

impl fmt::Display for MonitorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for MonitorType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for MonitorType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::from_name(&text).ok_or_else(|| D::Error::custom(format!("`{text}` is not a monitor type")))
    }
}
