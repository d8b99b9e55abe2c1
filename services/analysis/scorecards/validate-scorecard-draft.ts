import { Language, type ScorecardDraft } from '@call-analysis/events';
import { Fault, type FieldFault, nearestName } from '@call-analysis/fault';
import type { z } from 'zod';
import { Draft, sizeFault } from './scorecard.ts';

const MOST_FAULTS = 100;
const LONGEST_NAME = 100;

/** What the fields of a document may refer to. */
export interface References {
  /** Null: the segment type of a revision cannot be another than the scorecard's. */
  readonly segmentTypes: ReadonlySet<string> | null;
  readonly segmentType: string | null;
  readonly questionUuids: ReadonlySet<string>;
}

/**
 * A firm's document as a scorecard. VALIDATION_ERROR names every field at fault by its path, `sections.0.name`, whether
 * it has the wrong form or refers to what is not there.
 */
export function judgeDraft(document: string, references: References): ScorecardDraft {
  const value: unknown = JSON.parse(document);
  const parsed = Draft.safeParse(value, { error: requirement, reportInput: true });
  const faults = parsed.success ? [] : parsed.error.issues.flatMap(fieldFaults);
  faults.push(...unknownReferences(value, references));
  if (parsed.success) {
    const message = sizeFault(parsed.data);
    if (message !== null) faults.push({ field: 'sections', code: 'INVALID', message });
  }
  if (faults.length > 0) throw refusal(faults);
  return parsed.data!;
}

function refusal(faults: readonly FieldFault[]): Fault {
  const fields = faults.slice(0, MOST_FAULTS);
  const isCut = fields.length < faults.length;
  const summary = fields.map(({ field, message }) => `${field}: ${message}`);
  if (isCut) summary.push(`and ${faults.length - fields.length} more`);
  return new Fault('invalid', 'VALIDATION_ERROR', summary.join('; '), {
    details: { fields, ...(isCut && { fields_truncated: true }) },
  });
}

/** Looked for in whatever has come, so that faults of form do not hide them. */
function unknownReferences(document: unknown, references: References): FieldFault[] {
  const faults: FieldFault[] = [];
  const segmentType = property(document, 'segment_type');
  if (references.segmentTypes === null) {
    if (segmentType !== undefined && segmentType !== references.segmentType) {
      const message = `cannot be changed: it is ${references.segmentType ?? 'null'}. Make another scorecard`;
      faults.push({ field: 'segment_type', code: 'INVALID', message });
    }
  } else if (typeof segmentType === 'string' && !references.segmentTypes.has(segmentType.trim())) {
    const known = [...references.segmentTypes];
    const message = `must be null or one of your firm's: ${known.join(', ')}`;
    faults.push({ field: 'segment_type', code: 'UNKNOWN_SEGMENT_TYPE', message });
  }
  listOf(property(document, 'sections')).forEach((section, at) => {
    listOf(property(section, 'questions')).forEach((question, index) => {
      const uuid = property(question, 'uuid');
      if (typeof uuid !== 'string' || references.questionUuids.has(uuid.toLowerCase())) return;
      const message = 'is no question of the revision that you change; leave it out of a new question';
      faults.push({ field: `sections.${at}.questions.${index}.uuid`, code: 'UNKNOWN_QUESTION', message });
    });
  });
  return faults;
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (Reflect.get(value, name) as unknown) : undefined;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Set by the service and shown with the scorecard; whoever sends back what they got must leave them out. */
const SET_BY_US = ['uuid', 'is_active', 'revision', 'created_at', 'updated_at'];

function fieldFaults(issue: z.core.$ZodIssue): FieldFault[] {
  if (issue.code === 'unrecognized_keys') {
    // `requirement` wrote a line for each.
    const messages = issue.message.split('\n');
    return issue.keys.map((name, index) => ({
      field: [...issue.path, name.slice(0, LONGEST_NAME)].join('.'),
      code: 'UNKNOWN_FIELD',
      message:
        issue.path.length === 0 && SET_BY_US.includes(name)
          ? 'is set by the service; leave it out'
          : (messages[index] ?? 'is not known'),
    }));
  }
  const isMissing = issue.code === 'invalid_type' && issue.input === undefined;
  const field = issue.path.map((part) => String(part).slice(0, LONGEST_NAME)).join('.');
  return [{ field, code: isMissing ? 'REQUIRED' : 'INVALID', message: issue.message }];
}

/** What a value must be, where its schema does not say so itself; follows the field's name. */
function requirement(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required';
      return `must be ${NAMES[issue.expected] ?? issue.expected}${issue.input === null ? ', not null' : ''}`;
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'invalid_union':
      return 'must be one of rule, model';
    case 'too_small':
      if (issue.origin === 'string') return 'must not be empty';
      if (issue.origin === 'array') return `must have at least ${issue.minimum}`;
      return `must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'array' ? `must have at most ${issue.maximum}` : `must be at most ${issue.maximum}`;
    case 'unrecognized_keys': {
      const known = fieldsOf(issue.inst);
      if (known === null)
        return issue.keys.map(() => `is no language that we know: ${Language.options.join(', ')}`).join('\n');
      return issue.keys
        .map((name) => {
          const meant = nearestName(name, known);
          return meant === undefined ? 'is not known' : `is not known; did you mean ${meant}?`;
        })
        .join('\n');
    }
    default:
      return 'is not valid';
  }
}

const NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** The fields that the schema which was not pleased knows; null when it is no object but a record by language. */
function fieldsOf(schema: unknown): string[] | null {
  const shape = property(property(property(schema, '_zod'), 'def'), 'shape');
  return typeof shape === 'object' && shape !== null ? Object.keys(shape) : null;
}
