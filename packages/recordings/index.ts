export { decode, formatOf, inspect, requireStereo } from './inspect.ts';
export { FORMATS, type Format, type RecordingInfo, type Samples, type Source } from './recording.ts';
export { resample } from './resample/resample.ts';
export { sourceOfBytes, sourceOfFile } from './source.ts';
