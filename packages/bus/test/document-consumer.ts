import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pythonWith } from './python.ts';

const packages = ['confluent-kafka==2.16.1', 'jsonschema==4.26.0'];
const program = fileURLToPath(new URL('./document-consumer.py', import.meta.url));

/** An event as a client sees it that has only the AsyncAPI document. */
export interface ConsumedEvent {
  readonly type: string;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

interface Options {
  /** The AsyncAPI document, as the service serves it. */
  readonly document: string;
  /** The configuration of librdkafka: brokers, user and group. */
  readonly configuration: Readonly<Record<string, string>>;
  readonly subject: string;
  /** Consumes until there is an event of each of these types about the subject. */
  readonly types: readonly string[];
}

/** A consumer in Python that has only the AsyncAPI document. */
export interface DocumentConsumer {
  /** The public events about a subject. Rejects when a message on their topics is not as the document says. */
  consume(options: Options): Promise<ConsumedEvent[]>;
}

export async function openDocumentConsumer(): Promise<DocumentConsumer> {
  const python = await pythonWith(packages);
  return {
    async consume({ document, configuration, subject, types }) {
      const args = [program, JSON.stringify(configuration), subject, types.join(',')];
      const running = promisify(execFile)(python, args, { maxBuffer: 64 * 1024 * 1024 });
      running.child.stdin?.end(document);
      const { stdout } = await running;
      return stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as ConsumedEvent);
    },
  };
}
