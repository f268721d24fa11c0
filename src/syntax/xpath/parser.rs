//! Words of an XPath expression into an expression (XPath 1.0, 2 and 3). Calls itself at brackets only, of
//! which the caller bounds the number.

use super::expression::{Axis, Comparison, Expr, Function, NodeTest, Operation, Start, Step};
use super::lexer::{Token, tokens};

/// The operators of two sides, loosest first.
const LEVELS: [&[&str]; 6] =
    [&["or"], &["and"], &["=", "!="], &["<", "<=", ">", ">="], &["+", "-"], &["*", "div", "mod"]];

/// An expression, and the namespace prefixes in it.
pub type Parsed = (Expr, Box<[Box<str>]>);

/// Parses `text`.
///
/// # Errors
/// What is wrong, in a few words.
pub fn parse(text: &str) -> Result<Parsed, String> {
    let tokens = tokens(text)?;
    let prefix = |token: &Token| match token {
        Token::Prefixed(prefix, _) | Token::PrefixedStar(prefix) => Some(prefix.clone()),
        _ => None,
    };
    let prefixes = tokens.iter().filter_map(prefix).collect();
    if tokens.is_empty() {
        return Err("it is empty".to_owned());
    }
    let mut parser = Parser { tokens, at: 0 };
    let expr = parser.binary(0)?;
    match parser.peek() {
        None => Ok((expr, prefixes)),
        Some(token) => Err(format!("{} does not belong there", told(token))),
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn take(&mut self, token: &Token) -> bool {
        let found = self.peek() == Some(token);
        self.at += usize::from(found);
        found
    }

    fn mark(&mut self, mark: &'static str) -> bool {
        self.take(&Token::Mark(mark))
    }

    fn operator(&mut self, among: &[&'static str]) -> Option<&'static str> {
        let Some(&Token::Operator(found)) = self.peek() else { return None };
        among.contains(&found).then(|| self.at += 1).map(|()| found)
    }

    fn expect(&mut self, mark: &'static str) -> Result<(), String> {
        if self.mark(mark) { Ok(()) } else { Err(format!("`{mark}` is missing before {}", self.here())) }
    }

    fn here(&self) -> String {
        self.peek().map_or("the end".to_owned(), told)
    }

    fn binary(&mut self, level: usize) -> Result<Expr, String> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = self.operator(operators) {
            let right = self.binary(level + 1)?;
            left = joined(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, String> {
        let (mut any, mut negative) = (false, false);
        while self.operator(&["-"]).is_some() {
            (any, negative) = (true, !negative);
        }
        let value = self.union()?;
        Ok(match (any, negative) {
            (false, _) => value,
            (true, true) => Expr::Negate(Box::new(value)),
            // Two of them still make a number of it.
            (true, false) => Expr::Call(Function::Number, vec![value]),
        })
    }

    fn union(&mut self) -> Result<Expr, String> {
        let mut left = self.path()?;
        while self.operator(&["|"]).is_some() {
            let right = self.path()?;
            if !left.gives_nodes() || !right.gives_nodes() {
                return Err("`|` needs nodes on both sides".to_owned());
            }
            left = Expr::Union(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn path(&mut self) -> Result<Expr, String> {
        if self.operator(&["/"]).is_some() {
            let steps = if self.begins_step() { self.steps(Vec::new())? } else { Vec::new() };
            return Ok(Expr::Path(Start::Root, steps));
        }
        if self.operator(&["//"]).is_some() {
            return Ok(Expr::Path(Start::Root, self.steps(vec![sweep()])?));
        }
        if !self.begins_primary() {
            return Ok(Expr::Path(Start::Here, self.steps(Vec::new())?));
        }
        let mut value = self.primary()?;
        let predicates = self.predicates()?;
        if !predicates.is_empty() {
            nodes_before(&value, "`[`")?;
            value = Expr::Filter(Box::new(value), predicates);
        }
        let first = match self.operator(&["/", "//"]) {
            None => return Ok(value),
            Some("//") => vec![sweep()],
            Some(_) => Vec::new(),
        };
        nodes_before(&value, "`/`")?;
        Ok(Expr::Path(Start::At(Box::new(value)), self.steps(first)?))
    }

    fn begins_primary(&self) -> bool {
        match self.peek() {
            Some(Token::Literal(_) | Token::Number(_) | Token::Mark("(")) => true,
            Some(Token::Name(name)) => {
                self.tokens.get(self.at + 1) == Some(&Token::Mark("(")) && node_type(name).is_none()
            }
            _ => false,
        }
    }

    fn begins_step(&self) -> bool {
        use Token::{Mark, Name, Prefixed, PrefixedStar, Star};
        matches!(self.peek(), Some(Name(_) | Prefixed(..) | Star | PrefixedStar(_) | Mark("@" | "." | "..")))
    }

    fn primary(&mut self) -> Result<Expr, String> {
        let token = self.peek().cloned();
        self.at += 1;
        match token {
            Some(Token::Literal(text)) => Ok(Expr::Literal(text)),
            Some(Token::Number(number)) => Ok(Expr::Number(number)),
            Some(Token::Name(name)) => self.call(&name),
            _ => {
                let inner = self.binary(0)?;
                self.expect(")")?;
                Ok(inner)
            }
        }
    }

    fn call(&mut self, name: &str) -> Result<Expr, String> {
        let function = Function::of(name).ok_or_else(|| format!("the function `{name}` is not known"))?;
        self.expect("(")?;
        let mut arguments = Vec::new();
        if !self.mark(")") {
            arguments.push(self.binary(0)?);
            while self.mark(",") {
                arguments.push(self.binary(0)?);
            }
            self.expect(")")?;
        }
        let (least, most) = function.arguments();
        if !(least..=most).contains(&arguments.len()) {
            return Err(format!("`{name}` takes another number of arguments than {}", arguments.len()));
        }
        if function.needs_nodes() && !arguments.iter().all(Expr::gives_nodes) {
            return Err(format!("`{name}` needs nodes"));
        }
        Ok(Expr::Call(function, arguments))
    }

    fn predicates(&mut self) -> Result<Vec<Expr>, String> {
        let mut found = Vec::new();
        while self.mark("[") {
            found.push(self.binary(0)?);
            self.expect("]")?;
        }
        Ok(found)
    }

    fn steps(&mut self, mut steps: Vec<Step>) -> Result<Vec<Step>, String> {
        loop {
            steps.push(self.step()?);
            match self.operator(&["/", "//"]) {
                None => return Ok(steps),
                Some("//") => steps.push(sweep()),
                Some(_) => {}
            }
        }
    }

    fn step(&mut self) -> Result<Step, String> {
        if self.mark(".") {
            return Ok(Step { axis: Axis::This, test: NodeTest::Node, predicates: Vec::new() });
        }
        if self.mark("..") {
            return Ok(Step { axis: Axis::Parent, test: NodeTest::Node, predicates: Vec::new() });
        }
        let axis = self.axis()?;
        let test = self.test()?;
        Ok(Step { axis, test, predicates: self.predicates()? })
    }

    fn axis(&mut self) -> Result<Axis, String> {
        if self.mark("@") {
            return Ok(Axis::Attribute);
        }
        let named = self.tokens.get(self.at + 1) == Some(&Token::Mark("::"));
        let Some(Token::Name(name)) = self.peek().filter(|_| named) else { return Ok(Axis::Child) };
        let axis = Axis::of(name).ok_or_else(|| format!("the axis `{name}` is not known"))?;
        self.at += 2;
        Ok(axis)
    }

    fn test(&mut self) -> Result<NodeTest, String> {
        let Some(token) = self.peek().cloned() else { return Err("a step is missing at the end".to_owned()) };
        self.at += 1;
        match token {
            Token::Star => Ok(NodeTest::All),
            Token::PrefixedStar(prefix) => Ok(NodeTest::In(prefix)),
            Token::Prefixed(prefix, name) => Ok(NodeTest::Named(Some(prefix), name)),
            Token::Name(name) => match node_type(&name) {
                Some(test) if self.mark("(") => self.node_type(test),
                _ => Ok(NodeTest::Named(None, name)),
            },
            other => Err(format!("a step is missing before {}", told(&other))),
        }
    }

    fn node_type(&mut self, test: NodeTest) -> Result<NodeTest, String> {
        let named = match (&test, self.peek().cloned()) {
            (NodeTest::Instruction(_), Some(Token::Literal(name))) => {
                self.at += 1;
                NodeTest::Instruction(Some(name))
            }
            _ => test,
        };
        self.expect(")").map(|()| named)
    }
}

fn joined(operator: &str, left: Box<Expr>, right: Box<Expr>) -> Expr {
    match operator {
        "or" => Expr::Or(left, right),
        "and" => Expr::And(left, right),
        "=" => Expr::Compare(Comparison::Equal, left, right),
        "!=" => Expr::Compare(Comparison::NotEqual, left, right),
        "<" => Expr::Compare(Comparison::Less, left, right),
        "<=" => Expr::Compare(Comparison::LessOrEqual, left, right),
        ">" => Expr::Compare(Comparison::Greater, left, right),
        ">=" => Expr::Compare(Comparison::GreaterOrEqual, left, right),
        "+" => Expr::Math(Operation::Add, left, right),
        "-" => Expr::Math(Operation::Subtract, left, right),
        "*" => Expr::Math(Operation::Multiply, left, right),
        "div" => Expr::Math(Operation::Divide, left, right),
        _ => Expr::Math(Operation::Modulo, left, right),
    }
}

/// The step that `//` stands for.
fn sweep() -> Step {
    Step { axis: Axis::DescendantOrSelf, test: NodeTest::Node, predicates: Vec::new() }
}

fn node_type(name: &str) -> Option<NodeTest> {
    match name {
        "node" => Some(NodeTest::Node),
        "text" => Some(NodeTest::Text),
        "comment" => Some(NodeTest::Comment),
        "processing-instruction" => Some(NodeTest::Instruction(None)),
        _ => None,
    }
}

fn nodes_before(value: &Expr, what: &str) -> Result<(), String> {
    if value.gives_nodes() { Ok(()) } else { Err(format!("{what} needs nodes before it")) }
}

fn told(token: &Token) -> String {
    match token {
        Token::Mark(text) | Token::Operator(text) => format!("`{text}`"),
        Token::Number(number) => format!("`{number}`"),
        Token::Literal(text) => format!("the text `{text}`"),
        Token::Name(name) => format!("`{name}`"),
        Token::Prefixed(prefix, name) => format!("`{prefix}:{name}`"),
        Token::Star => "`*`".to_owned(),
        Token::PrefixedStar(prefix) => format!("`{prefix}:*`"),
    }
}
