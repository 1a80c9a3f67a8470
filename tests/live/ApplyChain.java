// Applies the transforms of a connector's settings to records, as a task of Kafka Connect does.
//
//     java -cp 'JARS/*' ApplyChain.java SETTINGS RECORDS
//
// RECORDS has one JSON object a line with topic, key and value, the latter two as JSON with their schemas. What comes
// out is printed the same way, key and value without schemas and decimals as numbers, with the headers beside them.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

public final class ApplyChain {
    private record Step(Transformation<SinkRecord> transform, Predicate<SinkRecord> predicate) {}

    public static void main(String[] arguments) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        Map<String, String> settings = new LinkedHashMap<>();
        mapper.readTree(Path.of(arguments[0]).toFile())
                .properties()
                .forEach(entry -> settings.put(entry.getKey(), entry.getValue().asText()));
        List<Step> steps = steps(settings);
        JsonConverter keys = converter(true, true);
        JsonConverter values = converter(true, false);
        JsonConverter out = converter(false, false);
        long offset = 0;
        for (String line : Files.readAllLines(Path.of(arguments[1]), StandardCharsets.UTF_8)) {
            JsonNode record = mapper.readTree(line);
            String topic = record.get("topic").asText();
            SchemaAndValue key = keys.toConnectData(topic, bytes(record.get("key")));
            SchemaAndValue value = values.toConnectData(topic, bytes(record.get("value")));
            SinkRecord made =
                    new SinkRecord(topic, 0, key.schema(), key.value(), value.schema(), value.value(), offset++);
            for (Step step : steps) {
                if (made != null && (step.predicate() == null || step.predicate().test(made))) {
                    made = step.transform().apply(made);
                }
            }
            if (made != null) {
                System.out.println(mapper.writeValueAsString(told(mapper, made, out)));
            }
        }
    }

    private static ObjectNode told(ObjectMapper mapper, SinkRecord made, JsonConverter out) throws Exception {
        ObjectNode told = mapper.createObjectNode().put("topic", made.topic());
        told.set("key", json(mapper, out, made.topic(), made.keySchema(), made.key()));
        told.set("value", json(mapper, out, made.topic(), made.valueSchema(), made.value()));
        ObjectNode headers = told.putObject("headers");
        for (Header header : made.headers()) {
            headers.put(header.key(), String.valueOf(header.value()));
        }
        return told;
    }

    private static JsonNode json(ObjectMapper mapper, JsonConverter out, String topic, Schema schema, Object value)
            throws Exception {
        byte[] raw = value == null ? null : out.fromConnectData(topic, schema, value);
        return raw == null ? mapper.nullNode() : mapper.readTree(raw);
    }

    private static byte[] bytes(JsonNode text) {
        return text == null || text.isNull() ? null : text.asText().getBytes(StandardCharsets.UTF_8);
    }

    private static List<Step> steps(Map<String, String> settings) throws Exception {
        List<Step> steps = new ArrayList<>();
        for (String name : settings.get("transforms").split(",")) {
            Map<String, String> own = below(settings, "transforms." + name + ".");
            String predicate = own.remove("predicate");
            steps.add(new Step(made(own), predicate == null ? null : tested(settings, predicate)));
        }
        return steps;
    }

    @SuppressWarnings("unchecked")
    private static Transformation<SinkRecord> made(Map<String, String> own) throws Exception {
        Transformation<SinkRecord> transform = (Transformation<SinkRecord>) instance(own);
        transform.configure(own);
        return transform;
    }

    @SuppressWarnings("unchecked")
    private static Predicate<SinkRecord> tested(Map<String, String> settings, String name) throws Exception {
        Map<String, String> own = below(settings, "predicates." + name + ".");
        Predicate<SinkRecord> predicate = (Predicate<SinkRecord>) instance(own);
        predicate.configure(own);
        return predicate;
    }

    private static Object instance(Map<String, String> own) throws Exception {
        return Class.forName(own.remove("type")).getDeclaredConstructor().newInstance();
    }

    private static Map<String, String> below(Map<String, String> settings, String prefix) {
        Map<String, String> found = new HashMap<>();
        settings.forEach((name, value) -> {
            if (name.startsWith(prefix)) {
                found.put(name.substring(prefix.length()), value);
            }
        });
        return found;
    }

    private static JsonConverter converter(boolean hasSchemas, boolean isKey) {
        JsonConverter converter = new JsonConverter();
        converter.configure(
                Map.of("schemas.enable", Boolean.toString(hasSchemas), "decimal.format", "NUMERIC"), isKey);
        return converter;
    }
}
