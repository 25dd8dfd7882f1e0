import type * as z from 'zod'
import { jsonText } from '../../codec/json-text.ts'
import { codeOf, detailOf } from '../../contract/validation-issues.ts'
import { maxFindings } from '../output/github.ts'
import { UsageError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import type { Io } from '../terminal/io.ts'
import { readFileText, readInput } from '../terminal/text-input.ts'
import { isJson, type PlacedValue, parseJsonDocument, parsePlacedYaml } from './document.ts'

/** Maximum length of JSON that is parsed as YAML, too, for its lines: that takes some seconds. */
const maxLength = 16 * 1024 * 1024
const maxProblems = 100
const maxValueLength = 60

export interface PlacedDocument extends PlacedValue {
  /** Name as given, or `Standard input`. */
  readonly name: string
}

/**
 * Reads YAML or JSON from a file, or standard input for `-`. Throws a UsageError that names the line of a syntax
 * error.
 */
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

/** Returns the problems of a document, with the wrong values if it was parsed with `reportInput`. */
export function problemsOf(error: z.ZodError): DocumentProblem[] {
  return error.issues.flatMap((issue): DocumentProblem[] => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({ path: [...issue.path, key], message: 'is not a known field' }))
    }
    return [{ path: issue.path, message: detailOf(issue) + wrongValue(issue) }]
  })
}

function wrongValue(issue: z.core.$ZodIssue): string {
  const { input, path } = issue
  const hidesValue = ['required', 'duplicate'].includes(codeOf(issue)) || path.at(-1) === 'password'
  const text = hidesValue || typeof input === 'object' ? undefined : jsonText(input)
  return text !== undefined && text.length <= maxValueLength ? `, not ${text}` : ''
}

/**
 * Returns the error for a document with up to a hundred problems: `course.yaml:12: modules[0].title is required`.
 */
export function refusedDocument(
  { name, lineOf }: PlacedDocument,
  problems: readonly DocumentProblem[],
): UsageError {
  const lines = problems
    .map(({ path, message }) => ({ line: lineOf(path), text: `${pathText(path)} ${message}`.trimStart() }))
    .sort((one, other) => one.line - other.line)
  const rest = lines.length - maxProblems
  return new UsageError(`${pluralise(lines.length, 'problem')} found in ${name}; nothing was sent`, {
    code: 'invalid_document',
    why: [
      ...lines.slice(0, maxProblems).map(({ line, text }) => `${name}:${line}: ${text}`),
      ...(rest > 0 ? [`and ${rest} more`] : []),
    ],
    findings: {
      list: lines.slice(0, maxFindings).map(({ line, text }) => ({ level: 'error', file: name, line, text })),
      more: Math.max(0, lines.length - maxFindings),
    },
  })
}

function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((step, index) =>
      typeof step === 'number' ? `[${step}]` : `${index === 0 ? '' : '.'}${String(step)}`,
    )
    .join('')
}
