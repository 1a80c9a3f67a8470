import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.transforms.ReplaceField;
import org.apache.kafka.connect.transforms.Transformation;

/**
 * Maps one topic to another with the classes of Kafka Connect: what a connector with converters would do, if there were
 * one from Kafka to Kafka. Consumer, JsonConverter, ExtractNewRecordState, ReplaceField, JsonConverter, transactional
 * producer; a transaction ends after so many milliseconds, as the offsets of Connect's sources do.
 *
 * Arguments: bootstrap servers, source topic, sink topic, group, records to map, renames of the value (a:b,c:d), renames
 * of the key, milliseconds of a transaction.
 */
public final class ConnectPipeline {
    public static void main(String[] arguments) {
        String servers = arguments[0];
        String source = arguments[1];
        String sink = arguments[2];
        String group = arguments[3];
        long wanted = Long.parseLong(arguments[4]);
        long transactionMs = Long.parseLong(arguments[7]);
        JsonConverter in = converter(true, false);
        JsonConverter keyIn = converter(true, true);
        JsonConverter out = converter(false, false);
        JsonConverter keyOut = converter(false, true);
        Transformation<SourceRecord> unwrap = new io.debezium.transforms.ExtractNewRecordState<>();
        unwrap.configure(Map.of("delete.tombstone.handling.mode", "tombstone"));
        Transformation<SourceRecord> rename = new ReplaceField.Value<>();
        rename.configure(Map.of("renames", arguments[5]));
        Transformation<SourceRecord> renameKey = new ReplaceField.Key<>();
        renameKey.configure(Map.of("renames", arguments[6]));
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(consuming(servers, group));
             KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(producing(servers, group))) {
            producer.initTransactions();
            consumer.subscribe(List.of(source));
            long done = 0;
            while (done < wanted) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(100));
                if (records.isEmpty()) {
                    continue;
                }
                producer.beginTransaction();
                long end = System.nanoTime() + transactionMs * 1_000_000L;
                Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
                while (true) {
                    for (ConsumerRecord<byte[], byte[]> record : records) {
                        SchemaAndValue value = in.toConnectData(source, record.value());
                        SchemaAndValue key = keyIn.toConnectData(source, record.key());
                        SourceRecord made = new SourceRecord(
                            Map.of(), Map.of(), sink, null, key.schema(), key.value(), value.schema(), value.value());
                        made = renameKey.apply(rename.apply(unwrap.apply(made)));
                        producer.send(new ProducerRecord<>(
                            sink,
                            keyOut.fromConnectData(sink, made.keySchema(), made.key()),
                            out.fromConnectData(sink, made.valueSchema(), made.value())));
                        offsets.put(
                            new TopicPartition(record.topic(), record.partition()),
                            new OffsetAndMetadata(record.offset() + 1));
                    }
                    done += records.count();
                    if (done >= wanted || System.nanoTime() > end) {
                        break;
                    }
                    records = consumer.poll(Duration.ZERO);
                    if (records.isEmpty()) {
                        break;
                    }
                }
                producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
                producer.commitTransaction();
            }
            System.out.println("mapped " + done);
        }
    }

    private static JsonConverter converter(boolean hasSchemas, boolean isKey) {
        JsonConverter converter = new JsonConverter();
        converter.configure(Map.of("schemas.enable", Boolean.toString(hasSchemas), "schemas.cache.size", "1000"), isKey);
        return converter;
    }

    private static Properties consuming(String servers, String group) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", servers);
        settings.put("group.id", group);
        settings.put("isolation.level", "read_committed");
        settings.put("enable.auto.commit", "false");
        settings.put("auto.offset.reset", "earliest");
        settings.put("max.poll.records", "2000");
        settings.put("key.deserializer", ByteArrayDeserializer.class.getName());
        settings.put("value.deserializer", ByteArrayDeserializer.class.getName());
        return settings;
    }

    private static Properties producing(String servers, String group) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", servers);
        settings.put("transactional.id", group);
        settings.put("linger.ms", "5");
        settings.put("batch.size", "131072");
        settings.put("key.serializer", ByteArraySerializer.class.getName());
        settings.put("value.serializer", ByteArraySerializer.class.getName());
        return settings;
    }
}
