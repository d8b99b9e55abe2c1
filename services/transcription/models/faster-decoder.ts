/** Field numbers of ONNX's ModelProto, GraphProto, NodeProto and AttributeProto. */
const GRAPH_OF_MODEL = 7;
const NODE_OF_GRAPH = 1;
const [INPUT, OUTPUT, NAME, OPERATOR, ATTRIBUTE] = [1, 2, 3, 4, 5];
const [ATTRIBUTE_NAME, ATTRIBUTE_INTEGER, ATTRIBUTE_GRAPH, ATTRIBUTE_TYPE] = [1, 3, 6, 20];
/** AttributeProto's INT and TensorProto's FLOAT. */
const [INTEGER, FLOAT] = [2, 1];
const [VARINT, FIXED64, BYTES, FIXED32] = [0, 1, 2, 5];

interface Node {
  readonly operator: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

/**
 * A decoder that computes the same in less time, in each branch of its graph. A model without such nodes is returned as it
 * is. As Moonshine is published, for every token
 *
 * - the 9.4 million weights of the last layer become floats: it multiplies integers instead, as the other layers do;
 * - all keys are transposed and scaled: the query is scaled twice instead, and ONNX Runtime multiplies by keys as they are.
 */
export function fasterDecoder(model: Buffer): Buffer {
  return changed(model, GRAPH_OF_MODEL, (graph) => [
    changed(graph, NODE_OF_GRAPH, (node) => [
      changed(node, ATTRIBUTE, (attribute) => [
        changed(attribute, ATTRIBUTE_GRAPH, (branch) => [withScaledQueries(withIntegers(branch))]),
      ]),
    ]),
  ]);
}

function withIntegers(graph: Buffer): Buffer {
  const nodes = fieldsOf(graph, NODE_OF_GRAPH).map(nodeOf);
  const last = nodes.find(({ operator, outputs }) => operator === 'MatMul' && outputs[0] === 'logits');
  const weights = nodes.find(
    ({ operator, outputs }) => operator === 'DequantizeLinear' && outputs[0] === last?.inputs[1],
  );
  if (last === undefined || weights === undefined) return graph;
  const [given = ''] = last.inputs;
  const [quantized = '', scale = '', zero = ''] = weights.inputs;
  const name = (part: string) => `logits_${part}`;
  const integers = [
    node('DynamicQuantizeLinear', [given], [name('given'), name('given_scale'), name('given_zero')]),
    node('MatMulInteger', [name('given'), quantized, name('given_zero'), zero], [name('integers')]),
    node('Cast', [name('integers')], [name('floats')], integerAttribute('to', FLOAT)),
    node('Mul', [name('given_scale'), scale], [name('scale')]),
    node('Mul', [name('floats'), name('scale')], ['logits']),
  ];
  return changed(graph, NODE_OF_GRAPH, (bytes) => {
    const [output] = nodeOf(bytes).outputs;
    if (output === weights.outputs[0]) return [];
    return output === 'logits' ? integers : [bytes];
  });
}

function withScaledQueries(graph: Buffer): Buffer {
  const nodes = fieldsOf(graph, NODE_OF_GRAPH).map(nodeOf);
  const makers = new Map(nodes.flatMap((made) => made.outputs.map((output) => [output, made] as const)));
  const makerOf = (output: string | undefined, operator: string) => {
    const maker = makers.get(output ?? '');
    return maker?.operator === operator ? maker : undefined;
  };
  /** By the scores that are products of a query and keys. */
  const scaled = new Map<string | undefined, { readonly query: string; readonly keys: Node }>();
  for (const { operator, inputs, outputs } of nodes) {
    const keys = makerOf(inputs[1], 'Mul');
    const [query = ''] = makerOf(inputs[0], 'Mul')?.outputs ?? [];
    const isScores = operator === 'MatMul' && query !== '' && makerOf(keys?.inputs[0], 'Transpose') !== undefined;
    if (keys !== undefined && isScores) scaled.set(outputs[0], { query, keys });
  }
  const needless = new Set([...scaled.values()].map(({ keys }) => keys.outputs[0]));
  return changed(graph, NODE_OF_GRAPH, (bytes) => {
    const { outputs } = nodeOf(bytes);
    if (needless.has(outputs[0])) return [];
    const found = scaled.get(outputs[0]);
    if (found === undefined) return [bytes];
    const [transposed = '', scale = ''] = found.keys.inputs;
    const twice = `${found.query}_scaled_twice`;
    return [node('Mul', [found.query, scale], [twice]), node('MatMul', [twice, transposed], outputs)];
  });
}

function nodeOf(bytes: Buffer): Node {
  const strings = (number: number) => fieldsOf(bytes, number).map((each) => each.toString('utf8'));
  return { operator: strings(OPERATOR)[0] ?? '', inputs: strings(INPUT), outputs: strings(OUTPUT) };
}

function node(operator: string, inputs: readonly string[], outputs: readonly string[], attribute?: Buffer): Buffer {
  return Buffer.concat([
    ...inputs.map((input) => bytesField(INPUT, Buffer.from(input))),
    ...outputs.map((output) => bytesField(OUTPUT, Buffer.from(output))),
    bytesField(NAME, Buffer.from(`${outputs[0]}_${operator}`)),
    bytesField(OPERATOR, Buffer.from(operator)),
    ...(attribute === undefined ? [] : [bytesField(ATTRIBUTE, attribute)]),
  ]);
}

function integerAttribute(name: string, value: number): Buffer {
  const varintField = (number: number, content: number) => [varint(8 * number + VARINT), varint(content)];
  return Buffer.concat([
    bytesField(ATTRIBUTE_NAME, Buffer.from(name)),
    ...varintField(ATTRIBUTE_INTEGER, value),
    ...varintField(ATTRIBUTE_TYPE, INTEGER),
  ]);
}

/** A message of protobuf in which each field of a number is replaced by others of that number. */
function changed(message: Buffer, number: number, replace: (content: Buffer) => Buffer[]): Buffer {
  const parts: Buffer[] = [];
  for (const field of fields(message)) {
    if (field.number === number && field.wire === BYTES)
      parts.push(...replace(message.subarray(field.from, field.to)).map((content) => bytesField(number, content)));
    else parts.push(message.subarray(field.start, field.to));
  }
  return Buffer.concat(parts);
}

/** The contents of the fields of a number. */
export function fieldsOf(message: Buffer, number: number): Buffer[] {
  return [...fields(message)]
    .filter((field) => field.number === number)
    .map(({ from, to }) => message.subarray(from, to));
}

/** Where each field starts, and from where to where its content is. */
function* fields(
  message: Buffer,
): Generator<{ number: number; wire: number; start: number; from: number; to: number }> {
  for (let start = 0; start < message.length;) {
    const tag = varintAt(message, start);
    const [number, wire] = [tag.value >> 3, tag.value & 7];
    let [from, to] = [tag.end, tag.end];
    if (wire === BYTES) {
      const length = varintAt(message, tag.end);
      [from, to] = [length.end, length.end + length.value];
    } else if (wire === VARINT) to = varintAt(message, tag.end).end;
    else to += { [FIXED64]: 8, [FIXED32]: 4 }[wire] ?? message.length;
    yield { number, wire, start, from, to };
    start = to;
  }
}

function bytesField(number: number, content: Buffer): Buffer {
  return Buffer.concat([varint(8 * number + BYTES), varint(content.length), content]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** A number at a position, and where it ends. Behind the end of the bytes are zeros. */
export function varintAt(bytes: Buffer, start: number): { value: number; end: number } {
  let value = 0;
  for (let at = start; ; at++) {
    const byte = bytes[at] ?? 0;
    value += (byte & 0x7f) * 2 ** (7 * (at - start));
    if (byte < 0x80) return { value, end: at + 1 };
  }
}
