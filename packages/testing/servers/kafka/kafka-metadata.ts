import { connect } from 'node:net';

const answerMs = 2_000;

/**
 * Whether the broker on that port of loopback answers a metadata request with a broker in it, which it does once the
 * controller has let it in: topics can be made from then on.
 */
export function answersMetadata(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: answerMs });
    let received = Buffer.alloc(0);
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.on('connect', () => socket.write(request()));
    socket.on('timeout', () => end(false));
    socket.on('error', () => end(false));
    socket.on('close', () => end(false));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      // Length, correlation id, then how many brokers there are.
      if (received.length >= 12) end(received.readInt32BE(8) > 0);
    });
  });
}

/** Metadata, version 1, of no topic (kafka.apache.org/protocol). */
function request(): Buffer {
  const client = Buffer.from('ready?');
  const bytes = Buffer.alloc(4 + 8 + 2 + client.length + 4);
  bytes.writeInt32BE(bytes.length - 4, 0);
  bytes.writeInt16BE(3, 4);
  bytes.writeInt16BE(1, 6);
  bytes.writeInt32BE(1, 8);
  bytes.writeInt16BE(client.length, 12);
  client.copy(bytes, 14);
  bytes.writeInt32BE(0, 14 + client.length);
  return bytes;
}
