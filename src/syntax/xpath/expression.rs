//! Parsed expressions of XPath 1.0. Numbers in brackets are sections of its specification.

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
    /// A location path (2), with its start.
    Path(PathStart, Vec<LocationStep>),
    /// Nodes that match the predicates, counted in the order of the document (3.3).
    Filter(Box<Expr>, Vec<Expr>),
    /// A number.
    Number(f64),
    /// A string.
    Literal(Box<str>),
    /// A function of the core library (4).
    Call(XPathFunction, Vec<Expr>),
}

impl Expr {
    /// Whether it returns nodes, and not a string, a number or a boolean.
    #[must_use]
    pub const fn returns_node_set(&self) -> bool {
        matches!(self, Self::Union(..) | Self::Path(..) | Self::Filter(..) | Self::Call(XPathFunction::Id, _))
    }
}

/// The start of a path.
#[derive(Clone, Debug, PartialEq)]
pub enum PathStart {
    /// The root of the document.
    Root,
    /// The context node.
    ContextNode,
    /// The nodes that an expression selects.
    Expr(Box<Expr>),
}

/// Comparison operators (3.4).
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

/// Arithmetic operators (3.5).
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
    /// Axis of the step.
    pub axis: Axis,
    /// Test for the nodes of the axis.
    pub node_test: NodeTest,
    /// Predicates for these nodes.
    pub predicates: Vec<Expr>,
}

macro_rules! named {
    ($(#[$doc:meta])* $type:ident { $($variant:ident = $name:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[expect(missing_docs, reason = "they are what they say")]
        pub enum $type { $($variant),+ }

        impl $type {
            /// Returns the value with this name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)+ _ => None }
            }

            /// Returns its name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }
    };
}

named! {
    /// An axis (2.2).
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
    /// Returns the minimum and maximum number of arguments.
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

    /// Whether its arguments must be nodes.
    #[must_use]
    pub const fn requires_node_set(self) -> bool {
        matches!(self, Self::Count | Self::Sum | Self::LocalName | Self::NamespaceUri | Self::Name)
    }
}

/// The nodes of an axis that a step selects (2.3).
#[derive(Clone, Debug, PartialEq)]
pub enum NodeTest {
    /// `*`: every node of the principal type of the axis.
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
    /// `processing-instruction()`, optionally with a name.
    ProcessingInstruction(Option<Box<str>>),
}
