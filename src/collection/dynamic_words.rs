//! The words that dynamic variables choose from.

pub(super) const COLORS: &[&str] = &[
    "red", "green", "blue", "yellow", "orange", "purple", "black", "white", "gray", "teal", "maroon", "olive",
];
pub(super) const FIRST_NAMES: &[&str] = &[
    "Anna", "Ben", "Clara", "David", "Emma", "Felix", "Grace", "Hugo", "Ida", "Jonas", "Kate", "Leo", "Mia",
    "Noah", "Olga", "Paul", "Rosa", "Sam", "Tina", "Victor",
];
pub(super) const LAST_NAMES: &[&str] = &[
    "Adams", "Baker", "Carter", "Davis", "Evans", "Fisher", "Green", "Hall", "Irving", "Jones", "Keller",
    "Lewis", "Moore", "Nelson", "Owens", "Parker", "Quinn", "Reed", "Smith", "Turner",
];
pub(super) const JOB_TITLES: &[&str] = &[
    "Software Engineer",
    "Product Manager",
    "Data Analyst",
    "Site Reliability Engineer",
    "Accountant",
    "Designer",
    "Support Engineer",
    "Architect",
];
pub(super) const CITIES: &[&str] = &[
    "Vienna", "Lisbon", "Oslo", "Prague", "Dublin", "Madrid", "Zurich", "Toronto", "Boston", "Nairobi",
    "Osaka", "Lima", "Perth", "Seoul",
];
pub(super) const COUNTRIES: &[&str] = &[
    "Austria",
    "Portugal",
    "Norway",
    "Czechia",
    "Ireland",
    "Spain",
    "Switzerland",
    "Canada",
    "Kenya",
    "Japan",
    "Peru",
    "Australia",
    "South Korea",
];
pub(super) const COUNTRY_CODES: &[&str] =
    &["AT", "PT", "NO", "CZ", "IE", "ES", "CH", "CA", "KE", "JP", "PE", "AU", "KR"];
pub(super) const STREET_SUFFIXES: &[&str] = &["Street", "Road", "Avenue", "Lane", "Square", "Drive"];
pub(super) const TOP_LEVEL_DOMAINS: &[&str] = &["com", "net", "org", "info", "biz"];
pub(super) const BUSINESS_SUFFIXES: &[&str] = &["Inc", "LLC", "Group", "and Sons"];
pub(super) const PRODUCTS: &[&str] =
    &["Chair", "Table", "Lamp", "Keyboard", "Bike", "Shoes", "Shirt", "Towels", "Soap", "Ball"];
pub(super) const CURRENCIES: &[&str] = &["EUR", "USD", "CHF", "GBP", "JPY", "NOK", "CAD", "AUD"];
pub(super) const MONTHS: &[&str] = &[
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub(super) const WEEKDAYS: &[&str] =
    &["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
pub(super) const FILE_EXTENSIONS: &[&str] = &["txt", "pdf", "csv", "json", "xml", "png", "zip", "html"];
pub(super) const LOREM: &[&str] = &[
    "lorem",
    "ipsum",
    "dolor",
    "sit",
    "amet",
    "consectetur",
    "adipiscing",
    "elit",
    "sed",
    "eiusmod",
    "tempor",
    "incididunt",
    "labore",
    "magna",
    "aliqua",
    "veniam",
    "quis",
    "nostrud",
    "ullamco",
    "laboris",
];
