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
// of UTF-8, and these), of less than 64 KiB, its value an IntWritable. In a file they are in the order of the bytes of `key`.
// Sizes are as below; each of them has as few bytes as it can have.
type count = unit {
  %max_size = 66k;

  key_first : int8 &requires = $$ > 0 || $$ == -1 || $$ == -113 || $$ == -114;
  var key_size : int32 &parse = self.key_first;
  switch (self.key_first) {
    -113 -> key_8 : uint8 &update = self.key_size = $$;
    -114 -> key_16 : uint16 &update = self.key_size = $$;
    * -> { }
  }
  value_size : int8 &requires = $$ == 4 && self.key_size > 0 || $$ == -1 && self.key_size == -1;
  if (self.key_size > 0) {
    text_first : int8 &requires = $$ >= 0 || $$ == -113 || $$ == -114;
    var text_size : int32 &parse = self.text_first;
    switch (self.text_first) {
      -113 -> text_8 : uint8 &requires = $$ >= 128 &update = self.text_size = $$;
      -114 -> text_16 : uint16 &requires = $$ >= 256 &update = self.text_size = $$;
      * -> { }
    }
    key : string &length = self.text_size
      &requires = self.key_size - self.text_size == 1 && self.text_first >= 0
          || self.key_size - self.text_size == 2 && self.text_first == -113
          || self.key_size - self.text_size == 3 && self.text_first == -114;
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
  let size = length(key);
  if size < 127 {
    made = count(key_first: int8(size + 1), value_size: 4, text_first: int8(size), key: key, value: value);
  } else if size == 127 {
    made = count(key_first: -113, key_8: 128, value_size: 4, text_first: 127, key: key, value: value);
  } else if size < 254 {
    made = count(key_first: -113, key_8: uint8(size + 2), value_size: 4, text_first: -113, text_8: uint8(size), key: key,
        value: value);
  } else if size < 256 {
    made = count(key_first: -114, key_16: uint16(size + 2), value_size: 4, text_first: -113, text_8: uint8(size), key: key,
        value: value);
  } else {
    made = count(key_first: -114, key_16: uint16(size + 3), value_size: 4, text_first: -114, text_16: uint16(size),
        key: key, value: value);
  }
};

// How a stream of counts ends (`foldt` of FLICK): whether one is the last; and that, with the CRC-32 of all that comes
// before its last four bytes.
count_ends (count one) => (bool is) { is = has(one.checksum); };
count_end (uint32 checksum) => (count last) {
  last = count(key_first: -1, value_size: -1, checksum: checksum);
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
