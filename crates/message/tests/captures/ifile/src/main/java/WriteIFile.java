import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.IFile;

/**
 * Writes an IFile, the format of what Hadoop's mappers give its reducers, with Hadoop's own writer. The sizes of keys and
 * values are such that each way to write a size is there: in one, two, three and four bytes.
 */
public final class WriteIFile {
    private static final int[] VALUE_SIZES = {0, 1, 100, 123, 124, 251, 252, 256, 5000, 70000};

    public static void main(String[] arguments) throws Exception {
        Configuration configuration = new Configuration();
        FileSystem files = FileSystem.getLocal(configuration).getRaw();
        FSDataOutputStream out = files.create(new Path(arguments[0]), true);
        IFile.Writer<Text, BytesWritable> writer =
            new IFile.Writer<>(configuration, out, Text.class, BytesWritable.class, null, null);
        for (int size : VALUE_SIZES) {
            byte[] value = new byte[size];
            for (int at = 0; at < size; at++) {
                value[at] = (byte) (at * 7);
            }
            writer.append(new Text("size " + size), new BytesWritable(value));
        }
        writer.append(new Text("k".repeat(300)), new BytesWritable());
        writer.close();
        out.close();
    }
}
