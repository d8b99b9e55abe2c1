export { decode, formatOf, inspect, requireStereo } from './inspect.ts';
export { FORMATS } from './recording.ts';
export type { Format, RecordingInfo, Samples, Source } from './recording.ts';
export { resample } from './resample/resample.ts';
export { sourceOfBytes, sourceOfFile } from './source.ts';
