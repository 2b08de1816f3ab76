import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.IFile;

/**
 * What mappers of Hadoop's example WordCount give, and what a reducer reads. `write FOLDER` writes mapper_0.ifile to
 * mapper_3.ifile with Hadoop's own writer, sorted by Text's comparator; `read FILE` prints each word and its count as
 * Hadoop's own reader has them, which checks the checksum.
 */
public final class CountWords {
    private static final int MAPPERS = 4;

    public static void main(String[] arguments) throws Exception {
        Configuration configuration = new Configuration();
        FileSystem files = FileSystem.getLocal(configuration).getRaw();
        if (arguments[0].equals("write")) {
            for (int mapper = 0; mapper < MAPPERS; mapper++) {
                write(configuration, files, new Path(arguments[1], "mapper_" + mapper + ".ifile"), mapper);
            }
        } else {
            read(configuration, files, new Path(arguments[1]));
        }
    }

    private static void write(Configuration configuration, FileSystem files, Path to, int mapper) throws Exception {
        Map<Text, Integer> counts = new TreeMap<>();
        for (int word = 0; word < 300; word++) {
            if ((word * 7 + mapper * 3) % 4 != 0) {
                counts.put(new Text("word " + word), word * 11 + mapper);
            }
        }
        // The size of a text has one byte, two, or three; what is not ASCII is in the order of its bytes.
        for (int size : new int[] {1, 127, 128, 255, 256, 5000}) {
            counts.put(new Text("x".repeat(size)), size + mapper);
        }
        counts.put(new Text("na\u00efve"), 1 << 20);
        counts.put(new Text("\u732b"), -mapper);
        counts.put(new Text(""), mapper);
        FSDataOutputStream out = files.create(to, true);
        IFile.Writer<Text, IntWritable> writer =
            new IFile.Writer<>(configuration, out, Text.class, IntWritable.class, null, null);
        for (Map.Entry<Text, Integer> each : counts.entrySet()) {
            writer.append(each.getKey(), new IntWritable(each.getValue()));
        }
        writer.close();
        out.close();
    }

    private static void read(Configuration configuration, FileSystem files, Path from) throws Exception {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        IFile.Reader<Text, IntWritable> reader = new IFile.Reader<>(configuration, files, from, null, null);
        DataInputBuffer key = new DataInputBuffer();
        DataInputBuffer value = new DataInputBuffer();
        while (reader.nextRawKey(key)) {
            reader.nextRawValue(value);
            Text word = new Text();
            word.readFields(key);
            IntWritable count = new IntWritable();
            count.readFields(value);
            out.println(word + " = " + count);
        }
        reader.close();
    }
}
