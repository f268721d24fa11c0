//! The table of each monitor type.

use super::{api_steps, browser, ftp, mail, mobile, network, test_projects, web};
use crate::domain::MonitorType;
use crate::schema::field::FieldTable;

/// Returns the table of a monitor type.
#[must_use]
pub fn for_type(monitor_type: MonitorType) -> &'static FieldTable {
    match monitor_type {
        MonitorType::Website => &web::WEBSITE,
        MonitorType::WebsiteSsl => &web::WEBSITE_SSL,
        MonitorType::WebsiteApi => &api_steps::WEBSITE_API,
        MonitorType::WebsiteSslApi => &api_steps::WEBSITE_SSL_API,
        MonitorType::Tcp => &network::TCP,
        MonitorType::Ping => &network::PING,
        MonitorType::NameServer => &network::NAME_SERVER,
        MonitorType::EmailImap => &mail::IMAP,
        MonitorType::EmailPop => &mail::POP,
        MonitorType::EmailSmtp => &mail::SMTP,
        MonitorType::EmailRoundTrip => &mail::ROUND_TRIP,
        MonitorType::Ftp => &ftp::FTP,
        MonitorType::FtpSsl => &ftp::FTP_SSL,
        MonitorType::MobileCloud => &mobile::MOBILE_CLOUD,
        MonitorType::MobileLab => &mobile::MOBILE_LAB,
        MonitorType::BrowserScript => &browser::BROWSER_SCRIPT,
        MonitorType::Selenium => &test_projects::SELENIUM,
        MonitorType::ApiProject => &test_projects::API,
        MonitorType::CollectionApi => &test_projects::COLLECTION_API,
        MonitorType::SecurityScan => &test_projects::SECURITY_SCAN,
        MonitorType::HostAgent => &test_projects::HOST_AGENT,
    }
}
