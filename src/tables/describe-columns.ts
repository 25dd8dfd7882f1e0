import * as z from 'zod'
import { bare, type Fields, fieldsOf } from '../contract/fields.ts'
import { type ColumnType, labelColumns, type Privacy, type TableColumn } from './column.ts'
import { findPrivacy } from './privacy.ts'

interface Leaf {
  readonly path: string
  readonly schema: z.ZodType
  readonly says: string
  readonly isNullable: boolean
}

/** One column for each field, or for each field of a nested object. */
export function describeColumns(table: string, record: z.ZodType): TableColumn[] {
  const leaves = leavesIn(fieldsIn(record) ?? {}, '', false)
  const paths = leaves.map(({ path }) => path)
  const labels = labelColumns(paths, paths)
  return leaves.map(({ path, schema, says, isNullable }, index) => {
    const type = typeOf(schema, path, says)
    const [meaning, nullMeans] = splitMeaning(says)
    return {
      name: labels[index]?.label ?? path,
      path,
      type,
      unit: unitOf(type, schema, path),
      meaning,
      nullMeans: nullMeans ?? (isNullable ? 'not set' : null),
      privacy: privacyOf(table, path, type, schema),
    }
  })
}

function leavesIn(fields: Fields, above: string, isNullable: boolean): Leaf[] {
  return Object.entries(fields).flatMap(([name, { is, says }]) => {
    const path = above + name
    const mayBeNull = isNullable || is.safeParse(null).success
    const inside = fieldsIn(is)
    if (inside) return leavesIn(inside, `${path}.`, mayBeNull)
    return [{ path, schema: innerOf(is), says, isNullable: mayBeNull }]
  })
}

function fieldsIn(schema: z.ZodType): Fields | undefined {
  return fieldsOf(schema) ?? fieldsOf(bare(schema)) ?? fieldsOf(innerOf(schema))
}

function innerOf(schema: z.ZodType): z.ZodType {
  const inner = bare(schema)
  if (inner instanceof z.ZodLazy) return innerOf(inner.unwrap() as z.ZodType)
  if (inner instanceof z.ZodPipe) return innerOf(inner.in as z.ZodType)
  return inner
}

function typeOf(schema: z.ZodType, path: string, says: string): ColumnType {
  if (schema instanceof z.ZodBoolean) return 'boolean'
  if (schema instanceof z.ZodNumber) {
    if (isPercentage(schema, path, says)) return 'percent'
    return schema.format === 'safeint' || schema.format === 'int32' ? 'integer' : 'number'
  }
  const format = schema instanceof z.ZodString ? schema.meta()?.['format'] : undefined
  return format === 'date-time' ? 'timestamp' : format === 'date' ? 'date' : 'string'
}

/** A percentage has it in its name or its description, is the pass rate, or is a score from 0 to 100. */
function isPercentage(schema: z.ZodNumber, path: string, says: string): boolean {
  if (/(percent(age)?|passRate)$/i.test(path) || /\bper cent\b/.test(says)) return true
  return schema.format === null && Number(schema.minValue) >= 0 && schema.maxValue === 100
}

const unitBySuffix: readonly (readonly [RegExp, string])[] = [
  [/minutes$/i, 'minutes'],
  [/(ms|milliseconds)$/, 'milliseconds'],
  [/bytes$/i, 'bytes'],
  [/hour$/i, 'hour of the day'],
  [/completionRate$/, 'share, 0–1'],
]

function unitOf(type: ColumnType, schema: z.ZodType, path: string): string | null {
  if (type === 'percent') return 'percent'
  if (type === 'timestamp') return 'UTC'
  if (type === 'integer' || type === 'number') {
    return unitBySuffix.find(([suffix]) => suffix.test(path))?.[1] ?? null
  }
  return type === 'string' && isNested(schema) ? 'JSON' : null
}

function isNested(schema: z.ZodType): boolean {
  return schema instanceof z.ZodArray || schema instanceof z.ZodRecord || schema instanceof z.ZodObject
}

/** Splits texts such as `When it was completed; null before that`. */
function splitMeaning(says: string): readonly [meaning: string, nullMeans: string | null] {
  const found = /^(?<before>.*?)[;,] null (?:is |means )?(?<means>.+?)(?<after>(?:;|\. ).*)?$/.exec(
    says,
  )?.groups
  if (!found) return [says, null]
  return [`${found['before']}${found['after'] ?? ''}`, found['means'] ?? null]
}

function privacyOf(table: string, path: string, type: ColumnType, schema: z.ZodType): Privacy {
  if (type === 'timestamp') return 'time'
  if (type !== 'string' || schema instanceof z.ZodEnum || schema instanceof z.ZodLiteral) return 'none'
  // Unclassified text is treated as free text, which is never given away; a test finds it.
  return findPrivacy(table, path) ?? 'text'
}
