import * as z from 'zod'
import { jsonText } from '../../codec/json-text.ts'
import { bare } from '../../contract/fields.ts'
import { codeOf, detailOf, suggestionText } from '../../contract/validation-issues.ts'
import { type FaultOptions, UsageError } from './errors.ts'
import { pluralise } from './format-text.ts'
import type { Io } from './io.ts'
import { isJson, type PlacedValue, parseJsonDocument, parsePlacedYaml } from './parse-document.ts'
import { readFileText, readInput } from './text-input.ts'

/** Maximum length of JSON that is parsed as YAML, too, for its lines: that takes some seconds. */
const maxLength = 16 * 1024 * 1024
const maxProblems = 100
const maxValueLength = 60

export interface PlacedDocument extends PlacedValue {
  /** Name as given, or `Standard input`. */
  readonly name: string
}

/** `-` is standard input. Throws a UsageError that names the line of a syntax error. */
export async function readPlacedDocument(io: Io, path: string): Promise<PlacedDocument> {
  const name = path === '-' ? 'Standard input' : path
  const text = await (path === '-' ? readInput(io) : readFileText(io, path))
  if (!isJson(text, name)) return { name, ...(await parsePlacedYaml(text, name)) }
  const value = await parseJsonDocument(text, name)
  if (text.length > maxLength) return { name, value, lineOf: () => 1 }
  const { lineOf } = await parsePlacedYaml(text, name)
  return { name, value, lineOf }
}

/** Problem of a document; its message continues the path. */
interface DocumentProblem {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

interface Violation extends DocumentProblem {
  /** Path and message without values and without fields that are not known. */
  readonly shown: string
}

/** Returns the violations in a value that was parsed with `reportInput`. */
export function violationsIn(schema: z.ZodType, error: z.ZodError): Violation[] {
  return error.issues.flatMap(innerIssues).flatMap((issue): Violation[] => {
    if (issue.code === 'unrecognized_keys') {
      const known = keysAt(schema, issue.path)
      return issue.keys.map((key) => ({
        path: [...issue.path, key],
        message: `is not a known field${suggestionText(key, known)}`,
        shown: `${pathText(issue.path)} has a field that is not known`.trimStart(),
      }))
    }
    const message = issue.code === 'invalid_union' ? 'has an unknown form' : detailOf(issue)
    const shown = `${pathText(issue.path)} ${message}`
    return [{ path: issue.path, message: message + wrongValue(issue), shown }]
  })
}

/** Issues of the one form that the value has. */
function innerIssues(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const [only, other] = issue.errors.filter((form) =>
    form.every((each) => each.path.length > 0 || each.code === 'unrecognized_keys'),
  )
  if (!only || other) return [issue]
  return only.flatMap((each) => innerIssues({ ...each, path: [...issue.path, ...each.path] }))
}

function keysAt(schema: unknown, [step, ...rest]: readonly PropertyKey[]): string[] {
  const at = schema instanceof z.ZodType ? bare(schema) : undefined
  const path = step === undefined ? [] : [step, ...rest]
  if (at instanceof z.ZodUnion) return at.options.flatMap((each) => keysAt(each, path))
  if (step === undefined) return at instanceof z.ZodObject ? Object.keys(at.shape) : []
  if (at instanceof z.ZodObject) return keysAt(at.shape[String(step)], rest)
  if (at instanceof z.ZodRecord) return keysAt(at.valueType, rest)
  return at instanceof z.ZodArray ? keysAt(at.element, rest) : []
}

function wrongValue(issue: z.core.$ZodIssue): string {
  const { input, path } = issue
  const hidesValue = ['required', 'duplicate'].includes(codeOf(issue)) || path.at(-1) === 'password'
  const text = hidesValue || typeof input === 'object' ? undefined : jsonText(input)
  return text !== undefined && text.length <= maxValueLength ? `, not ${text}` : ''
}

/** Lists up to a hundred problems: `course.yaml:12: modules[0].title is required`. */
export function refusedDocument(
  { name, lineOf }: PlacedDocument,
  problems: readonly DocumentProblem[],
  options: FaultOptions = {},
): UsageError {
  const lines = problems
    .map(({ path, message }) => ({ line: lineOf(path), text: `${pathText(path)} ${message}`.trimStart() }))
    .sort((one, other) => one.line - other.line)
  const rest = lines.length - maxProblems
  return new UsageError(`${pluralise(lines.length, 'problem')} found in ${name}; nothing was sent`, {
    ...options,
    code: 'invalid_document',
    why: [
      ...lines.slice(0, maxProblems).map(({ line, text }) => `${name}:${line}: ${text}`),
      ...(rest > 0 ? [`and ${rest} more`] : []),
    ],
    findings: {
      list: lines.map(({ line, text }) => ({ level: 'error', file: name, line, text })),
      more: 0,
    },
  })
}

/** Returns a path as text: `users[0].profile.firstName`. */
export function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((step, index) =>
      typeof step === 'number' ? `[${step}]` : `${index === 0 ? '' : '.'}${String(step)}`,
    )
    .join('')
}
