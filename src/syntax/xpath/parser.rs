//! Parses the tokens of an XPath expression (XPath 1.0, 2 and 3). Only recurses at brackets, whose number the caller
//! limits.

use super::expression::{
    ArithmeticOperator, Axis, ComparisonOperator, Expr, LocationStep, NodeTest, PathStart, XPathFunction,
};
use super::lexer::{Token, tokenize};

/// The binary operators, by increasing precedence.
const OPERATORS_BY_PRECEDENCE: [&[&str]; 6] =
    [&["or"], &["and"], &["=", "!="], &["<", "<=", ">", ">="], &["+", "-"], &["*", "div", "mod"]];

/// An expression, and its namespace prefixes.
pub type ParsedXPath = (Expr, Box<[Box<str>]>);

/// Parses `text`.
///
/// # Errors
/// A short description of what is wrong.
pub fn parse(text: &str) -> Result<ParsedXPath, String> {
    let tokens = tokenize(text)?;
    let prefix = |token: &Token| match token {
        Token::PrefixedName(prefix, _) | Token::PrefixWildcard(prefix) => Some(prefix.clone()),
        _ => None,
    };
    let prefixes = tokens.iter().filter_map(prefix).collect();
    if tokens.is_empty() {
        return Err("it is empty".to_owned());
    }
    let mut parser = Parser { tokens, position: 0 };
    let expr = parser.parse_binary(0)?;
    match parser.peek() {
        None => Ok((expr, prefixes)),
        Some(token) => Err(format!("{} does not belong there", describe_token(token))),
    }
}

struct Parser {
    tokens: Vec<Token>,
    position: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.position)
    }

    /// Skips the next token if it is `token`; returns whether it was.
    fn eat(&mut self, token: &Token) -> bool {
        let found = self.peek() == Some(token);
        self.position += usize::from(found);
        found
    }

    fn eat_punctuation(&mut self, mark: &'static str) -> bool {
        self.eat(&Token::Punctuation(mark))
    }

    /// Skips the next token if it is one of `operators`, and returns that one.
    fn eat_operator(&mut self, operators: &[&'static str]) -> Option<&'static str> {
        let Some(&Token::Operator(found)) = self.peek() else { return None };
        operators.contains(&found).then(|| self.position += 1).map(|()| found)
    }

    fn expect(&mut self, mark: &'static str) -> Result<(), String> {
        if self.eat_punctuation(mark) {
            Ok(())
        } else {
            Err(format!("`{mark}` is missing before {}", self.describe_next()))
        }
    }

    fn describe_next(&self) -> String {
        self.peek().map_or("the end".to_owned(), describe_token)
    }

    /// Parses operators from `level` of [`OPERATORS_BY_PRECEDENCE`] on; 0 parses any expression.
    fn parse_binary(&mut self, level: usize) -> Result<Expr, String> {
        let Some(operators) = OPERATORS_BY_PRECEDENCE.get(level) else { return self.parse_unary() };
        let mut left = self.parse_binary(level + 1)?;
        while let Some(operator) = self.eat_operator(operators) {
            let right = self.parse_binary(level + 1)?;
            left = binary_expr(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn parse_unary(&mut self) -> Result<Expr, String> {
        let (mut has_minus, mut negative) = (false, false);
        while self.eat_operator(&["-"]).is_some() {
            (has_minus, negative) = (true, !negative);
        }
        let value = self.parse_union()?;
        Ok(match (has_minus, negative) {
            (false, _) => value,
            (true, true) => Expr::Negate(Box::new(value)),
            // A double negation still converts to a number.
            (true, false) => Expr::Call(XPathFunction::Number, vec![value]),
        })
    }

    fn parse_union(&mut self) -> Result<Expr, String> {
        let mut left = self.parse_path()?;
        while self.eat_operator(&["|"]).is_some() {
            let right = self.parse_path()?;
            if !left.returns_node_set() || !right.returns_node_set() {
                return Err("`|` needs nodes on both sides".to_owned());
            }
            left = Expr::Union(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn parse_path(&mut self) -> Result<Expr, String> {
        if self.eat_operator(&["/"]).is_some() {
            let steps = if self.is_at_step() { self.parse_steps(Vec::new())? } else { Vec::new() };
            return Ok(Expr::Path(PathStart::Root, steps));
        }
        if self.eat_operator(&["//"]).is_some() {
            return Ok(Expr::Path(PathStart::Root, self.parse_steps(vec![descendant_or_self_step()])?));
        }
        if !self.is_at_primary() {
            return Ok(Expr::Path(PathStart::ContextNode, self.parse_steps(Vec::new())?));
        }
        let mut value = self.parse_primary()?;
        let predicates = self.parse_predicates()?;
        if !predicates.is_empty() {
            require_node_set(&value, "`[`")?;
            value = Expr::Filter(Box::new(value), predicates);
        }
        let initial_steps = match self.eat_operator(&["/", "//"]) {
            None => return Ok(value),
            Some("//") => vec![descendant_or_self_step()],
            Some(_) => Vec::new(),
        };
        require_node_set(&value, "`/`")?;
        Ok(Expr::Path(PathStart::Expr(Box::new(value)), self.parse_steps(initial_steps)?))
    }

    /// Whether a literal, number, bracket or function call comes next.
    fn is_at_primary(&self) -> bool {
        match self.peek() {
            Some(Token::Literal(_) | Token::Number(_) | Token::Punctuation("(")) => true,
            Some(Token::Name(name)) => {
                self.tokens.get(self.position + 1) == Some(&Token::Punctuation("("))
                    && node_type_test(name).is_none()
            }
            _ => false,
        }
    }

    fn is_at_step(&self) -> bool {
        use Token::{Name, PrefixWildcard, PrefixedName, Punctuation, Wildcard};
        matches!(
            self.peek(),
            Some(Name(_) | PrefixedName(..) | Wildcard | PrefixWildcard(_) | Punctuation("@" | "." | ".."))
        )
    }

    fn parse_primary(&mut self) -> Result<Expr, String> {
        let token = self.peek().cloned();
        self.position += 1;
        match token {
            Some(Token::Literal(text)) => Ok(Expr::Literal(text)),
            Some(Token::Number(number)) => Ok(Expr::Number(number)),
            Some(Token::Name(name)) => self.parse_call(&name),
            _ => {
                let inner = self.parse_binary(0)?;
                self.expect(")")?;
                Ok(inner)
            }
        }
    }

    fn parse_call(&mut self, name: &str) -> Result<Expr, String> {
        let function =
            XPathFunction::from_name(name).ok_or_else(|| format!("the function `{name}` is not known"))?;
        self.expect("(")?;
        let mut arguments = Vec::new();
        if !self.eat_punctuation(")") {
            arguments.push(self.parse_binary(0)?);
            while self.eat_punctuation(",") {
                arguments.push(self.parse_binary(0)?);
            }
            self.expect(")")?;
        }
        let (min, max) = function.arity();
        if !(min..=max).contains(&arguments.len()) {
            return Err(format!("`{name}` takes another number of arguments than {}", arguments.len()));
        }
        if function.requires_node_set() && !arguments.iter().all(Expr::returns_node_set) {
            return Err(format!("`{name}` needs nodes"));
        }
        Ok(Expr::Call(function, arguments))
    }

    fn parse_predicates(&mut self) -> Result<Vec<Expr>, String> {
        let mut found = Vec::new();
        while self.eat_punctuation("[") {
            found.push(self.parse_binary(0)?);
            self.expect("]")?;
        }
        Ok(found)
    }

    fn parse_steps(&mut self, mut steps: Vec<LocationStep>) -> Result<Vec<LocationStep>, String> {
        loop {
            steps.push(self.parse_step()?);
            match self.eat_operator(&["/", "//"]) {
                None => return Ok(steps),
                Some("//") => steps.push(descendant_or_self_step()),
                Some(_) => {}
            }
        }
    }

    fn parse_step(&mut self) -> Result<LocationStep, String> {
        if self.eat_punctuation(".") {
            return Ok(LocationStep {
                axis: Axis::SelfNode,
                node_test: NodeTest::Node,
                predicates: Vec::new(),
            });
        }
        if self.eat_punctuation("..") {
            return Ok(LocationStep {
                axis: Axis::Parent,
                node_test: NodeTest::Node,
                predicates: Vec::new(),
            });
        }
        let axis = self.parse_axis()?;
        let test = self.parse_node_test()?;
        Ok(LocationStep { axis, node_test: test, predicates: self.parse_predicates()? })
    }

    fn parse_axis(&mut self) -> Result<Axis, String> {
        if self.eat_punctuation("@") {
            return Ok(Axis::Attribute);
        }
        let has_axis_name = self.tokens.get(self.position + 1) == Some(&Token::Punctuation("::"));
        let Some(Token::Name(name)) = self.peek().filter(|_| has_axis_name) else { return Ok(Axis::Child) };
        let axis = Axis::from_name(name).ok_or_else(|| format!("the axis `{name}` is not known"))?;
        self.position += 2;
        Ok(axis)
    }

    fn parse_node_test(&mut self) -> Result<NodeTest, String> {
        let Some(token) = self.peek().cloned() else { return Err("a step is missing at the end".to_owned()) };
        self.position += 1;
        match token {
            Token::Wildcard => Ok(NodeTest::Wildcard),
            Token::PrefixWildcard(prefix) => Ok(NodeTest::PrefixWildcard(prefix)),
            Token::PrefixedName(prefix, name) => Ok(NodeTest::Named(Some(prefix), name)),
            Token::Name(name) => match node_type_test(&name) {
                Some(test) if self.eat_punctuation("(") => self.parse_node_type_arguments(test),
                _ => Ok(NodeTest::Named(None, name)),
            },
            other => Err(format!("a step is missing before {}", describe_token(&other))),
        }
    }

    fn parse_node_type_arguments(&mut self, test: NodeTest) -> Result<NodeTest, String> {
        let complete_test = match (&test, self.peek().cloned()) {
            (NodeTest::ProcessingInstruction(_), Some(Token::Literal(name))) => {
                self.position += 1;
                NodeTest::ProcessingInstruction(Some(name))
            }
            _ => test,
        };
        self.expect(")").map(|()| complete_test)
    }
}

fn binary_expr(operator: &str, left: Box<Expr>, right: Box<Expr>) -> Expr {
    match operator {
        "or" => Expr::Or(left, right),
        "and" => Expr::And(left, right),
        "=" => Expr::Compare(ComparisonOperator::Equal, left, right),
        "!=" => Expr::Compare(ComparisonOperator::NotEqual, left, right),
        "<" => Expr::Compare(ComparisonOperator::Less, left, right),
        "<=" => Expr::Compare(ComparisonOperator::LessOrEqual, left, right),
        ">" => Expr::Compare(ComparisonOperator::Greater, left, right),
        ">=" => Expr::Compare(ComparisonOperator::GreaterOrEqual, left, right),
        "+" => Expr::Arithmetic(ArithmeticOperator::Add, left, right),
        "-" => Expr::Arithmetic(ArithmeticOperator::Subtract, left, right),
        "*" => Expr::Arithmetic(ArithmeticOperator::Multiply, left, right),
        "div" => Expr::Arithmetic(ArithmeticOperator::Divide, left, right),
        _ => Expr::Arithmetic(ArithmeticOperator::Modulo, left, right),
    }
}

/// Returns the step that `//` stands for.
fn descendant_or_self_step() -> LocationStep {
    LocationStep { axis: Axis::DescendantOrSelf, node_test: NodeTest::Node, predicates: Vec::new() }
}

fn node_type_test(name: &str) -> Option<NodeTest> {
    match name {
        "node" => Some(NodeTest::Node),
        "text" => Some(NodeTest::Text),
        "comment" => Some(NodeTest::Comment),
        "processing-instruction" => Some(NodeTest::ProcessingInstruction(None)),
        _ => None,
    }
}

fn require_node_set(value: &Expr, operator: &str) -> Result<(), String> {
    if value.returns_node_set() { Ok(()) } else { Err(format!("{operator} needs nodes before it")) }
}

fn describe_token(token: &Token) -> String {
    match token {
        Token::Punctuation(text) | Token::Operator(text) => format!("`{text}`"),
        Token::Number(number) => format!("`{number}`"),
        Token::Literal(text) => format!("the text `{text}`"),
        Token::Name(name) => format!("`{name}`"),
        Token::PrefixedName(prefix, name) => format!("`{prefix}:{name}`"),
        Token::Wildcard => "`*`".to_owned(),
        Token::PrefixWildcard(prefix) => format!("`{prefix}:*`"),
    }
}
