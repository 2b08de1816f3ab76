// Hadoop's IFile, the format of what mappers give to reducers, uncompressed: the class `IFile` of
// `org.apache.hadoop.mapred`, and `IFileOutputStream`, which adds the checksum. `flux message std.ifile record` prints
// the records of a file, each as soon as it has come; `file` is all of it.

// All records. The last one is the end.
type file = unit {
  %max_size = 1G;

  records : record[] &until = $$.key_size.value < 0 &max_size = 16M;
};

// `IFile.Writer.append` and `close`: the sizes of the key and of the value, then both; or -1 twice, which ends the file
// (`EOF_MARKER`), and the CRC-32 of all that comes before, which is not checked by who reads a record alone.
type record = unit {
  %max_size = 64M;

  key_size : size &requires = $$.value >= -1;
  value_size : size &requires = $$.value >= -1 && ($$.value < 0) == (self.key_size.value < 0);
  if (self.key_size.value >= 0) {
    key : bytes &length = self.key_size.value;
    value : bytes &length = self.value_size.value;
  } else {
    checksum : uint32;
  }
};

// A record as of Hadoop's example WordCount: its key is a Text (`org.apache.hadoop.io.Text.write`: how many bytes there are
// of UTF-8, and these), its value an IntWritable. In a file they are in the order of the bytes of `key`.
type count = unit {
  %max_size = 64k;

  key_size : size &requires = $$.value >= -1 && $$.value != 0;
  value_size : size &requires = $$.value == 4 && self.key_size.value > 0 || $$.value == -1 && self.key_size.value == -1;
  if (self.key_size.value > 0) {
    text_size : size
      &requires = 0 <= $$.value && $$.value < 65536 && (self.key_size.value - $$.value == 1 && $$.value < 128
          || self.key_size.value - $$.value == 2 && 128 <= $$.value && $$.value < 256
          || self.key_size.value - $$.value == 3 && 256 <= $$.value);
    key : string &length = self.text_size.value;
    value : int32;
  } else {
    checksum : uint32;
  }
};

// `WritableUtils.writeVLong`: -112 to 127 are one byte. Of others the first byte says the sign and how many bytes
// follow; of a negative number these are its complement.
type size = unit {
  first : int8;
  var value : int64 &parse = self.first;
  var rest : int64 &parse = 0;
  if (self.first < -120) {
    negative : uint8[-120 - self.first]
      &update = self.rest = self.rest * 256 + int64($$)
      &update = self.value = -1 - self.rest;
  } else if (self.first < -112) {
    positive : uint8[-112 - self.first]
      &update = self.rest = self.rest * 256 + int64($$)
      &update = self.value = self.rest;
  }
};

// The size `value`, from -1 to 65,535.
Size (int64 value) => (size made) {
  if value < 128 {
    made = size(first: int8(value));
  } else if value < 256 {
    made = size(first: -113, positive: [uint8(value)]);
  } else {
    made = size(first: -114, positive: [uint8(value / 256), uint8(value % 256)]);
  }
};

// A word and how often it comes.
Count (text key, int32 value) => (count made) {
  let text_size = Size(int64(length(key)));
  made = count(key_size: Size(int64(length(bytes(text_size)) + length(key))), value_size: size(first: 4), text_size: text_size,
      key: key, value: value);
};

// The same word with another count: what says how large things are stays.
WithValue (count one, int32 value) => (count made) {
  made = count(key_size: one.key_size, value_size: one.value_size, text_size: value(one.text_size), key: value(one.key),
      value: value);
};

// How a stream of counts ends (`foldt` of FLICK): whether one is the last; and that, with the CRC-32 of all that comes
// before its last four bytes.
count_ends (count one) => (bool is) { is = has(one.checksum); };
count_end (uint32 checksum) => (count last) {
  last = count(key_size: size(first: -1), value_size: size(first: -1), checksum: checksum);
};

// The same of records.
record_ends (record one) => (bool is) { is = has(one.checksum); };
record_end (uint32 checksum) => (record last) {
  last = record(key_size: size(first: -1), value_size: size(first: -1), checksum: checksum);
};

// A record of a key and a value of up to 65,535 bytes.
Record (bytes key, bytes value) => (record made) {
  made = record(key_size: Size(int64(length(key))), value_size: Size(int64(length(value))), key: key, value: value);
};
