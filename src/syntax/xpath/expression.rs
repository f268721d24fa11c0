//! Expressions of XPath 1.0, parsed.

/// An expression (3).
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// `or`
    Or(Box<Expr>, Box<Expr>),
    /// `and`
    And(Box<Expr>, Box<Expr>),
    /// `=`, `<`, …
    Compare(ComparisonOperator, Box<Expr>, Box<Expr>),
    /// `+`, `div`, …
    Arithmetic(ArithmeticOperator, Box<Expr>, Box<Expr>),
    /// Unary `-`
    Negate(Box<Expr>),
    /// `|`
    Union(Box<Expr>, Box<Expr>),
    /// A location path (2), from where it starts.
    Path(PathStart, Vec<LocationStep>),
    /// Nodes that fit the predicates, counted in the order of the document (3.3).
    Filter(Box<Expr>, Vec<Expr>),
    /// A number.
    Number(f64),
    /// A text.
    Literal(Box<str>),
    /// A function of the core library (4).
    Call(XPathFunction, Vec<Expr>),
}

impl Expr {
    /// Whether it gives nodes, and not a text, a number or a truth value.
    #[must_use]
    pub const fn returns_node_set(&self) -> bool {
        matches!(self, Self::Union(..) | Self::Path(..) | Self::Filter(..) | Self::Call(XPathFunction::Id, _))
    }
}

/// Where a path starts.
#[derive(Clone, Debug, PartialEq)]
pub enum PathStart {
    /// The root of the document.
    Root,
    /// The node that is looked at.
    ContextNode,
    /// What an expression selects.
    Expr(Box<Expr>),
}

/// How two values are compared (3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are what they say")]
pub enum ComparisonOperator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Arithmetic (3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are what they say")]
pub enum ArithmeticOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

/// A step of a path (2.1).
#[derive(Clone, Debug, PartialEq)]
pub struct LocationStep {
    /// Which way it goes.
    pub axis: Axis,
    /// Which nodes there it takes.
    pub test: NodeTest,
    /// What else has to hold for them.
    pub predicates: Vec<Expr>,
}

macro_rules! named {
    ($(#[$doc:meta])* $type:ident { $($variant:ident = $name:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[expect(missing_docs, reason = "they are what they say")]
        pub enum $type { $($variant),+ }

        impl $type {
            /// The one of this name.
            #[must_use]
            pub fn of(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)+ _ => None }
            }

            /// Its name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }
    };
}

named! {
    /// A direction in a document (2.2).
    Axis {
        Ancestor = "ancestor",
        AncestorOrSelf = "ancestor-or-self",
        Attribute = "attribute",
        Child = "child",
        Descendant = "descendant",
        DescendantOrSelf = "descendant-or-self",
        Following = "following",
        FollowingSibling = "following-sibling",
        Namespace = "namespace",
        Parent = "parent",
        Preceding = "preceding",
        PrecedingSibling = "preceding-sibling",
        SelfNode = "self",
    }
}

named! {
    /// A function of the core library (4).
    XPathFunction {
        Last = "last",
        Position = "position",
        Count = "count",
        Id = "id",
        LocalName = "local-name",
        NamespaceUri = "namespace-uri",
        Name = "name",
        String = "string",
        Concat = "concat",
        StartsWith = "starts-with",
        Contains = "contains",
        SubstringBefore = "substring-before",
        SubstringAfter = "substring-after",
        Substring = "substring",
        StringLength = "string-length",
        NormalizeSpace = "normalize-space",
        Translate = "translate",
        Boolean = "boolean",
        Not = "not",
        True = "true",
        False = "false",
        Lang = "lang",
        Number = "number",
        Sum = "sum",
        Floor = "floor",
        Ceiling = "ceiling",
        Round = "round",
    }
}

impl XPathFunction {
    /// The least and the greatest number of arguments.
    #[must_use]
    pub const fn arity(self) -> (usize, usize) {
        match self {
            Self::Last | Self::Position | Self::True | Self::False => (0, 0),
            Self::LocalName
            | Self::NamespaceUri
            | Self::Name
            | Self::String
            | Self::StringLength
            | Self::NormalizeSpace
            | Self::Number => (0, 1),
            Self::Concat => (2, usize::MAX),
            Self::StartsWith | Self::Contains | Self::SubstringBefore | Self::SubstringAfter => (2, 2),
            Self::Substring => (2, 3),
            Self::Translate => (3, 3),
            _ => (1, 1),
        }
    }

    /// Whether its arguments have to be nodes.
    #[must_use]
    pub const fn requires_node_set(self) -> bool {
        matches!(self, Self::Count | Self::Sum | Self::LocalName | Self::NamespaceUri | Self::Name)
    }
}

/// Which nodes of an axis a step takes (2.3).
#[derive(Clone, Debug, PartialEq)]
pub enum NodeTest {
    /// `*`: every node of the axis' own kind.
    Wildcard,
    /// `prefix:*`
    PrefixWildcard(Box<str>),
    /// `name` or `prefix:name`
    Named(Option<Box<str>>, Box<str>),
    /// `node()`
    Node,
    /// `text()`
    Text,
    /// `comment()`
    Comment,
    /// `processing-instruction()`, or the one of a name
    ProcessingInstruction(Option<Box<str>>),
}
