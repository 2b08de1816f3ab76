//! The three listings of the paper, as printed; the signs that its text lost are put back.

use super::{read, right, said};

const LISTING_1: &str = "\
type cmd : record
  key : string

proc Memcached : ( cmd / cmd client , [ cmd / cmd ] backends )
  | backends => client
  | client => target_backend ( backends )

fun target_backend : ( [ -/ cmd ] backends , req : cmd ) -> ()
  let target = hash ( req . key ) mod len ( backends )
  req => backends [ target ]
";

const LISTING_2: &str = "\
type cmd = unit {
  % byteorder = big ;

  magic_code : uint8 ;
  opcode : uint8 ;
  key_len : uint16 ;
  extras_len : uint8 ;
  : uint8 ; # anonymous field, reserved for future use
  status_or_v_bucket : uint16 ;
  total_len : uint32 ;
  opaque : uint32 ;
  cas : uint64 ;

  var value_len : uint32
    & parse = self . total_len - ( self . extras_len + self . key_len )
    & serialize = self . total_len =
      self . key_len + self . extras_len + $$ ;
  extras : bytes & length = self . extras_len ;
  key : string & length = self . key_len ;
  value : bytes & length = self . value_len ;
} ;
";

const LISTING_3: &str = "\
type kv : record
  key : string
  value : string

proc hadoop : ([ kv / -] mappers , -/ kv reducer ) :
  if ( all_ready ( mappers ) ) :
    let result = foldt on mappers
        ordering elem e1 , e2 by elem . key as e_key :
      let v = combine ( e1 . val , e2 . val )
      kv ( e_key , v )
    result => reducer

fun combine ( v1 : string , v2 : string ) -> ( string ): ...
";

#[test]
fn the_memcached_proxy_is_right() {
    let program = right(LISTING_1);
    // A record that goes through channels, and that no grammar is for, has one of its own.
    let (_, message) = program.messages.iter().next().unwrap();
    assert_eq!(message.fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>(), ["key_size", "key"]);
}

#[test]
fn the_grammar_is_a_message_of_the_model() {
    let program = right(LISTING_2);
    let (_, message) = program.messages.iter().next().unwrap();
    assert_eq!((message.name.to_string().as_str(), message.fields.len()), ("cmd", 13));
}

#[test]
fn the_aggregator_is_right_but_for_a_field_that_it_shortens() {
    let short = "9: [field-shortened] `val` is short for the field `value`";
    assert_eq!(said(LISTING_3), [short, short]);
    assert!(!read(LISTING_3).1.has_errors());
}

#[test]
fn a_record_with_the_name_of_a_unit_is_a_view_of_it() {
    let program = right(&format!("{LISTING_2}{LISTING_1}"));
    assert_eq!((program.messages.len(), program.types.len()), (1, 0));
    let wrong = LISTING_1.replace("key : string", "kee : string").replace("req . key", "req . opcode");
    assert_eq!(
        said(&format!("{wrong}{LISTING_2}")),
        [
            "2: [view-mismatch] the message `cmd` has no field `kee`",
            "9: [unknown-field] the record `cmd` shows no field `opcode`",
        ]
    );
    let other = LISTING_1.replace("key : string", "key : bytes");
    assert_eq!(
        said(&format!("{LISTING_2}{other}")),
        ["23: [view-mismatch] the field `key` of the message is of the type `string`"]
    );
}

#[test]
fn a_record_may_say_of_which_message_it_is() {
    let other = LISTING_1.replace("type cmd : record", "type cmd : record of command");
    let program = right(&format!("{}{other}", LISTING_2.replace("type cmd", "type command")));
    assert_eq!((program.messages.len(), program.types.len()), (1, 0));
    assert_eq!(said(&other)[0], "1: [field-type] there is no message `command`");
}

/// The text of the paper lost the indentation of some rules.
#[test]
fn rules_may_stand_in_the_column_of_their_process() {
    right(&LISTING_1.replace("  |", "|"));
}
