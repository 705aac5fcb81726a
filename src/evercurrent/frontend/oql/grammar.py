r"""The grammar, for lark's LALR(1) parser with its contextual lexer.

Precedences are the standard's, loosest first: or, orelse, and, quantifiers, andthen, equality, order, addition,
multiplication, membership, signs, paths. Words are keywords only where the grammar expects them, in any case; names are
taken as they are written. Some tokens look ahead so that one token decides: `e in` begins an iterator, `a:` a label, `(c) x`
a cast.
"""

GRAMMAR = r"""
start: ";"* [statement (";"+ statement)* ";"*]

?statement: define | undefine | import_ | query

define: DEFINE NAME ["(" [parameter ("," parameter)*] ")"] AS query
parameter: [DIRECTION] type_words
type_words: NAME+ | NAME "<" type_words ("," type_words)* ">" NAME?
undefine: UNDEFINE NAME ["(" ")"]
import_: IMPORT NAME ("::" NAME)* [AS NAME]

?query: select | expression

select: SELECT [DISTINCT] projections FROM iterators [where] [group] [having] [order] [limit]
projections: STAR | projection ("," projection)*
?projection: labelled_projection | as_projection | bare_projection
labelled_projection: LABEL ":" query
as_projection: expression AS NAME
bare_projection: expression
iterators: iterator ("," iterator)*
?iterator: in_iterator | typed_iterator | as_iterator | bare_iterator
in_iterator: ITERATOR IN query
typed_iterator: TYPED AS NAME IN query
as_iterator: expression [AS] NAME
bare_iterator: expression
where: WHERE expression
group: GROUP_BY label ("," label)*
?label: labelled_group | as_group | bare_group
labelled_group: LABEL ":" query
as_group: expression AS NAME
bare_group: expression
having: HAVING expression
order: ORDER_BY key ("," key)*
key: expression [ASC | DESC]
limit: LIMIT INTEGER [OFFSET INTEGER]

?expression: orelse
           | expression OR orelse -> binary
?orelse: conjunction
       | orelse ORELSE conjunction -> binary
?conjunction: quantifier
            | conjunction AND quantifier -> binary
?quantifier: andthen
           | EXISTS ITERATOR IN addition ":" quantifier -> exists_in
           | FOR_ALL ITERATOR IN addition ":" quantifier -> for_all
?andthen: equality
        | andthen ANDTHEN equality -> binary
?equality: relation
         | equality EQUAL relation -> binary
         | equality EQUAL QUANTITY relation -> compared
         | equality LIKE relation -> binary
?relation: addition
         | relation ORDERED addition -> binary
         | relation ORDERED QUANTITY addition -> compared
?addition: multiplication
         | addition ADDITIVE multiplication -> binary
?multiplication: membership
               | multiplication (MULTIPLICATIVE | STAR) membership -> binary
?membership: unary
           | unary IN unary -> binary
?unary: cast
      | SIGN unary -> signed
      | NOT unary -> signed
?cast: postfix
     | CAST_OPEN NAME ("::" NAME)* ")" unary -> casting
?postfix: primary
        | postfix ("." | "->") MEMBER -> step
        | postfix ("." | "->") MEMBER arguments -> step
        | postfix "[" query "]" -> index
        | postfix "[" query ":" query "]" -> slice
arguments: "(" [query ("," query)*] ")"

?primary: "(" query ")"
        | INTEGER -> integer
        | FLOAT -> float_
        | STRING -> string
        | TRUE -> true
        | FALSE -> false
        | NIL -> nil
        | UNDEFINED -> undefined
        | MOMENT STRING -> moment
        | NAME -> name
        | EXISTS "(" query ")" -> exists_of
        | DISTINCT_OF "(" query ")" -> distinct_of
        | STRUCT "(" [member ("," member)*] ")" -> struct
        | COLLECTION "(" [query ("," query)*] ")" -> collect
        | COLLECTION "(" query ".." query ")" -> range
        | NAME "(" member ("," member)* ")" -> construct
        | NAME "(" STAR ")" -> call_star
        | NAME "(" DISTINCT_ARGUMENT expression ")" -> call_distinct
        | NAME arguments -> call
member: LABEL ":" query

DEFINE.5: /define\b(\s+query\b(?=\s+[A-Za-z_]\w*\s*(\(|as\b)))?/i
UNDEFINE.5: /undefine\b(\s+query\b(?=\s+[A-Za-z_]))?/i
IMPORT.5: /import\b/i
SELECT.5: /select\b/i
DISTINCT.6: /distinct\b/i
DISTINCT_ARGUMENT.7: /distinct\b(?!\s*\()/i
DISTINCT_OF.5: /distinct(?=\s*\()/i
FROM.5: /from\b/i
WHERE.5: /where\b/i
GROUP_BY.5: /group\s+by\b/i
HAVING.5: /having\b/i
ORDER_BY.5: /order\s+by\b/i
LIMIT.5: /limit\b(?=\s+\d)/i
OFFSET.5: /offset\b(?=\s+\d)/i
ASC.5: /asc\b/i
DESC.5: /desc\b/i
AS.5: /as\b/i
IN.5: /in\b/i
OR.5: /or\b/i
ORELSE.5: /orelse\b/i
AND.5: /and\b/i
ANDTHEN.5: /andthen\b/i
NOT.5: /not\b/i
EXISTS.5: /exists\b/i
FOR_ALL.5: /for\s+all\b/i
LIKE.5: /like\b/i
QUANTITY.5: /(some|any|all)\b/i
TRUE.5: /true\b/i
FALSE.5: /false\b/i
NIL.5: /nil\b/i
UNDEFINED.5: /undefined\b/i
DIRECTION.5: /in(?=\s+[A-Za-z_]\w*\s+[A-Za-z_])/i
MOMENT.5: /(date|timestamp|time)(?=\s*['"])/i
STRUCT.5: /struct(?=\s*\()/i
COLLECTION.5: /(set|bag|list|array)(?=\s*\()/i
EQUAL: /=|!=|<>/
ORDERED: /<=|>=|<(?!>)|>/
ADDITIVE: /\|\||\+|-(?!>)|union\b|except\b/i
SIGN: /[-+]/
MULTIPLICATIVE: /\/|mod\b|div\b|intersect\b/i
STAR: "*"
CAST_OPEN.6: /\((?=\s*[A-Za-z_]\w*(\s*::\s*\w+)*\s*\)\s*(?!(and|or|andthen|orelse|in|as|from|where|group\s+by|having|order\s+by|like|mod|div|union|intersect|except|asc|desc|limit|define|undefine|select)\b)[A-Za-z_"'(0-9])/i
TYPED.8: /[A-Za-z_]\w*(?=\s+as\s+[A-Za-z_]\w*\s+in\b)/i
ITERATOR.7: /(?!(?:exists|not)\b)[A-Za-z_]\w*(?=\s+in\b)/i
LABEL.7: /[A-Za-z_]\w*(?=\s*:(?!:))/
MEMBER: /[A-Za-z_]\w*/
NAME: /(?!(?:select|from|where|having|and|or|not|andthen|orelse|in|as|exists|like|union|intersect|except|mod|div|distinct|nil|true|false|undefined|define|undefine|import|group\s+by|order\s+by|for\s+all)\b)[A-Za-z_]\w*/i
FLOAT.3: /\d+\.(?!\.)\d*([eE][-+]?\d+)?|\d+[eE][-+]?\d+|\.\d+([eE][-+]?\d+)?/
INTEGER.2: /\d+/
STRING: /"(\\.|[^"\\])*"|'(\\.|[^'\\])*'/s

%ignore /\s+/
%ignore /\/\/[^\n]*/
%ignore /\/\*(.|\n)*?\*\//
"""
