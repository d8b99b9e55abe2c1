import { describe, expect, it } from '@jest/globals';
import { SAMPLE_RATE_HZ } from '../engines/speech-engine.ts';
import type { Kind, Model } from '../models/model.ts';
import { type Models, withBundledModel } from './loaded-models.ts';
import { ModelTranscriber } from './model-transcriber.ts';

const model = (name: string, kind: Kind, languages: string[]): Model => ({
  name,
  kind,
  languages,
  files: { encoder: 'e', decoder: 'd' },
  tokens: 't',
});
const english = model('english', 'moonshine', ['en']);
const russian = model('russian', 'gigaam', ['ru']);
const kyrgyz = model('kyrgyz', 'transducer', ['ky']);
const many = model('many', 'whisper', []);

// Texts of models for the same sentence, in their own language and in another one.
const inEnglish = 'hello my name is anna how can i help you today with your account please tell me what the problem is';
const inRussian =
  'здравствуйте меня зовут анна чем я могу вам помочь сегодня что у вас случилось с интернетом пожалуйста';
const circles = 'the first one is the first one is the first one is the first one is the first one is the first one';
const nonsense = 'хэллоу май нейм ис эна хау кэн ай хелп ю тудей виз ёр эккаунт плиз телл ми вот зе проблем ис';
const foreignKyrgyz = 'хэллоу мэй нэйм анна хоу кэн хэлп ю тудэй виз ёр экаунт плис тэлл вот зэ проблэм иш нот';

const clear = { language: 'en', probability: 0.65, english: 0.65 };

/** Models that return the same text for every segment; counts how often each is used. */
function models(
  texts: Readonly<Record<string, string>>,
  language = 'en',
  spoken: string | null = null,
  sound = { language: 'xx', probability: 0.05, english: 0.45 },
) {
  const used = new Map<string, number>();
  const identified: number[] = [];
  const released = { count: 0 };
  const source: Models = {
    async recognizer({ name }) {
      return {
        createStream: () => ({ acceptWaveform() {} }),
        decode: () => void used.set(name, (used.get(name) ?? 0) + 1),
        getResult: () => ({ text: texts[name] ?? '', ...(spoken === null ? {} : { lang: spoken }) }),
      };
    },
    identifyLanguage(_, samples) {
      identified.push(samples.length / SAMPLE_RATE_HZ);
      return language;
    },
    spokenLanguage: () => sound,
    releaseLanguageModel: () => void released.count++,
  };
  return { source, used, identified, released };
}

async function transcribe(source: Models, all: readonly Model[], segments = 6) {
  const transcriber = new ModelTranscriber(source, all);
  for (let segment = 0; segment < segments; segment++)
    await transcriber.transcribe(new Float32Array(7 * SAMPLE_RATE_HZ), segment % 2 === 0 ? 'left' : 'right');
  return transcriber.finish();
}

describe('the models of the local engine', () => {
  it('include the bundled English one unless a configured one knows English', () => {
    expect(withBundledModel([many])).toEqual([many]);
    expect(withBundledModel([english, russian])).toEqual([english, russian]);
  });

  it('tell how sure they are of the words, where the model returns probabilities', async () => {
    const { source } = models({ kyrgyz: inRussian, russian: inRussian });
    const sure: Models = {
      ...source,
      async recognizer(of) {
        const recognizer = await source.recognizer(of);
        const logprobs = of.name === 'kyrgyz' ? [Math.log(0.9), Math.log(0.4)] : [];
        return { ...recognizer, getResult: (stream) => ({ ...recognizer.getResult(stream), ys_log_probs: logprobs }) };
      },
    };
    const confidenceOf = async (of: Model) => (await transcribe(sure, [of], 1)).segments[0]![0]!.confidence;
    expect(await confidenceOf({ ...kyrgyz, languages: [] })).toBeCloseTo(0.6);
    expect(await confidenceOf(russian)).toBeUndefined();
  });

  it('keep the model that identifies the language no longer than it is needed, and at most until the end', async () => {
    const sure = models({ english: inEnglish }, 'en', null, { language: 'en', probability: 0.95, english: 0.95 });
    const transcriber = new ModelTranscriber(sure.source, [english]);
    for (let segment = 0; segment < 4; segment++)
      await transcriber.transcribe(new Float32Array(9 * SAMPLE_RATE_HZ), 'left');
    expect(sure.released.count).toBe(1);
    await transcriber.finish();
    expect(sure.released.count).toBe(1);

    const unsure = models({ english: inEnglish }, 'en', null, { language: 'en', probability: 0.55, english: 0.55 });
    await transcribe(unsure.source, [english]);
    expect(unsure.released.count).toBe(1);
  });

  it('transcribe everything with the only one', async () => {
    const { source, used } = models({ english: inEnglish }, 'en', null, clear);
    const { engine, language, segments } = await transcribe(source, [english]);
    expect({ engine, language, used: used.get('english') }).toEqual({ engine: 'english', language: 'en', used: 6 });
    expect(segments).toHaveLength(6);
    expect(segments[0]).toEqual([{ text: inEnglish, start: 0, end: 7 }]);
  });

  it.each([
    [
      'english',
      'en',
      { english: inEnglish, russian: nonsense, kyrgyz: foreignKyrgyz },
      // The sound is doubtful, so all six segments are transcribed again at the end.
      { english: 12, russian: 3, kyrgyz: 3 },
    ],
    // Moonshine transcribes a segment twice when its first text is empty or repetition.
    [
      'russian',
      'ru',
      { english: circles, russian: inRussian, kyrgyz: inRussian },
      { english: 6, russian: 6, kyrgyz: 3 },
    ],
  ])('transcribe with the %s one after a trial of several', async (name, code, texts, counts) => {
    const { source, used } = models(texts);
    const { engine, language, segments } = await transcribe(source, [english, russian, kyrgyz]);
    expect({ engine, language }).toEqual({ engine: name, language: code });
    expect(segments).toHaveLength(6);
    expect(Object.fromEntries(used)).toEqual(counts);
  });

  it('transcribe a segment a second time when the first text is lost', async () => {
    const lengths: number[] = [];
    const source: Models = {
      identifyLanguage: () => 'en',
      spokenLanguage: () => ({ language: 'en', probability: 0.95, english: 0.95 }),
      releaseLanguageModel() {},
      async recognizer() {
        let length = 0;
        return {
          createStream: () => ({
            acceptWaveform({ samples }) {
              length = samples.length;
              lengths.push(length);
            },
          }),
          decode() {},
          getResult: () => ({ text: length === 5 * SAMPLE_RATE_HZ ? '' : inEnglish }),
        };
      },
    };
    const transcriber = new ModelTranscriber(source, [english]);
    await transcriber.transcribe(new Float32Array(7 * SAMPLE_RATE_HZ), 'left');
    await transcriber.transcribe(new Float32Array(5 * SAMPLE_RATE_HZ), 'right');
    await transcriber.transcribe(new Float32Array(7 * SAMPLE_RATE_HZ), 'left');
    const { segments } = await transcriber.finish();
    expect(segments.map(([first]) => first?.text)).toEqual([inEnglish, inEnglish, inEnglish]);
    expect(lengths.map((length) => length / SAMPLE_RATE_HZ)).toEqual([7, 5, 4.76, 7]);
  });

  it('transcribe the first 40 s again, a little slower, when the sound is doubtful, and nothing again when it is clear', async () => {
    const lengths: number[] = [];
    const source = (sound: { language: string; probability: number; english: number }): Models => ({
      ...models({}, 'en', null, sound).source,
      async recognizer() {
        return {
          createStream: () => ({ acceptWaveform: ({ samples }) => void lengths.push(samples.length) }),
          decode() {},
          getResult: () => ({ text: inEnglish }),
        };
      },
    });
    await transcribe(source(clear), [english], 8);
    expect(lengths).toHaveLength(8);
    lengths.length = 0;
    await transcribe(source({ language: 'xx', probability: 0.05, english: 0.35 }), [english], 8);
    expect(lengths.slice(8).map((length) => (length / SAMPLE_RATE_HZ / 7).toFixed(2))).toEqual(Array(6).fill('1.05'));
  });

  it('fail with LANGUAGE_NOT_SUPPORTED when the sound is doubtful and the same speech becomes other words', async () => {
    const sound = { language: 'de', probability: 0.35, english: 0.35 };
    const transcribed = (second: string) => {
      let segments = 0;
      return transcribe(
        {
          ...models({}, 'en', null, sound).source,
          async recognizer() {
            return {
              createStream: () => ({ acceptWaveform() {} }),
              decode: () => void segments++,
              getResult: () => ({ text: segments > 6 ? second : inEnglish }),
            };
          },
        },
        [english],
      );
    };
    await expect(transcribed('good and talk hear speak the coon deans we can each in and half')).rejects.toMatchObject({
      code: 'LANGUAGE_NOT_SUPPORTED',
    });
    await expect(transcribed(inEnglish.replace('anna', 'emma'))).resolves.toMatchObject({ language: 'en' });
  });

  it.each([
    ['nothing', ''],
    ['repetition', circles],
  ])(
    'fail with LANGUAGE_NOT_SUPPORTED when they make %s of all speech, although it sounds like their language',
    async (_, text) => {
      const { source } = models({ english: text, many: text }, 'en', null, clear);
      await expect(transcribe(source, [english])).rejects.toMatchObject({ code: 'LANGUAGE_NOT_SUPPORTED' });
      // A model that detects the language knows it. There is no speech then.
      const { segments } = await transcribe(source, [many]);
      expect(segments.flat().filter((each) => each.text !== '')).toEqual([]);
    },
  );

  it('are chosen at the end of a short call', async () => {
    const { source } = models({ english: circles, russian: inRussian });
    expect(await transcribe(source, [english, russian], 2)).toMatchObject({ engine: 'russian', language: 'ru' });
  });

  it('fail with LANGUAGE_NOT_SUPPORTED when none knows the language', async () => {
    const { source } = models({ english: circles, russian: nonsense });
    await expect(transcribe(source, [english])).rejects.toMatchObject({
      kind: 'invalid',
      code: 'LANGUAGE_NOT_SUPPORTED',
    });
    await expect(transcribe(source, [english, russian])).rejects.toThrow('SPEECH_MODEL_DIR');
  });

  it('fail with LANGUAGE_NOT_SUPPORTED when another language is detected, however plausible the text is', async () => {
    const sound = { language: 'es', probability: 0.75, english: 0.05 };
    const { source } = models({ english: inEnglish }, 'en', null, sound);
    await expect(transcribe(source, [english])).rejects.toMatchObject({ code: 'LANGUAGE_NOT_SUPPORTED' });
  });

  it('are chosen by the detected language, even when the text of another one is more plausible', async () => {
    const sound = { language: 'ru', probability: 0.95, english: 0.05 };
    const { source } = models({ english: inEnglish, russian: inRussian }, 'en', null, sound);
    expect(await transcribe(source, [english, russian])).toMatchObject({ engine: 'russian', language: 'ru' });
  });

  it('are chosen by the language that Whisper identifies, a model of that language alone before a multilingual one', async () => {
    const { source, used, identified } = models({ russian: inRussian, many: inRussian }, 'ru');
    expect(await transcribe(source, [english, russian, many])).toMatchObject({ engine: 'russian', language: 'ru' });
    expect(identified).toEqual([7]);
    expect([used.get('russian'), used.get('many')]).toEqual([6, undefined]);
    const other = models({ many: 'guten tag' }, 'de');
    expect(await transcribe(other.source, [english, russian, many])).toMatchObject({ engine: 'many', language: null });
  });

  it('report the language when they are multilingual', async () => {
    const { source } = models({ many: inRussian }, '', '<|uz|>');
    expect(await transcribe(source, [many])).toMatchObject({ engine: 'many', language: 'uz' });
  });
});
