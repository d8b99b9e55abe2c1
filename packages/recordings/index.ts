export { decode, formatOf, inspect, requireStereo } from './inspect.ts';
export { FORMATS } from './recording.ts';
export type { Container, Format, RecordingInfo, Samples, Source } from './recording.ts';
export { openResampler, resample } from './resample/resample.ts';
export type { Resampler } from './resample/resample.ts';
export { sourceOfBytes, sourceOfFile } from './source.ts';
