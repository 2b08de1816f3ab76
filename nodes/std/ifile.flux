// Hadoop's IFile, the format of what mappers give to reducers, uncompressed: the class `IFile` of
// `org.apache.hadoop.mapred`, and `IFileOutputStream`, which adds the checksum. `flux message std.ifile record` prints
// the records of a file, each as soon as it has come; `file` is all of it.

// All records. The last one is the end.
type file = unit {
  %max_size = 1G;

  records : record[] &until = $$.key_size.value < 0 &max_size = 16M;
};

// `IFile.Writer.append` and `close`: the sizes of the key and of the value, then both; or -1 twice, which ends the file
// (`EOF_MARKER`), and the CRC-32 of all that comes before, which is not checked here.
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
