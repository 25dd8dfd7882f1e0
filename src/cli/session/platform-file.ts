import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import type * as z from 'zod'
import type { PlatformFile } from '../../client/platform/platform-schema.ts'
import { jsonText } from '../../codec/json-text.ts'
import { readRegularFile } from '../../config/files.ts'
import { suggestionText } from '../../contract/validation-issues.ts'
import { UsageError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'

export interface KeptPlatform {
  readonly name: string
  /** SHA-256 of its text, in hexadecimal digits. */
  readonly digest: string
  readonly file: PlatformFile
}

const maxBytes = 256 * 1024
const maxProblems = 100

/** Reads a platform file. Throws a UsageError with every problem and its line. */
export async function readPlatformFile(cwd: string, path: string): Promise<KeptPlatform> {
  const [{ LineCounter, isNode, parseDocument }, { membersAt, platformFileOf }] = await Promise.all([
    import('yaml'),
    import('../../client/platform/platform-schema.ts'),
  ])
  const text = readText(resolve(cwd, path), path)
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const [fault] = document.errors
  if (fault) throw new UsageError(`${path}:${lines.linePos(fault.pos[0]).line}: not YAML: ${fault.message}`)
  const parsed = platformFileOf(readValue(() => document.toJS({ maxAliasCount: 100 }), path))
  if (parsed.success) {
    const digest = createHash('sha256').update(text).digest('hex')
    return { name: parsed.data.name, digest, file: parsed.data }
  }

  function lineOf(steps: readonly PropertyKey[]): number {
    for (let length = steps.length; length > 0; length -= 1) {
      const node: unknown = document.getIn(steps.slice(0, length), true)
      if (isNode(node) && node.range) return lines.linePos(node.range[0]).line
    }
    return 1
  }

  const problems = parsed.error.issues.flatMap(innerIssues).flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [{ path: issue.path, message: messageOf(issue) }]
    const known = membersAt(issue.path)
    return issue.keys.map((key) => ({
      path: [...issue.path, key],
      message: `is not a known member${suggestionText(key, known)}`,
    }))
  })
  throw new UsageError(`${pluralise(problems.length, 'problem')} found in ${path}`, {
    code: 'invalid_document',
    why: problems
      .map((each) => ({
        line: lineOf(each.path),
        text: `${each.path.join('.')} ${each.message}`.trimStart(),
      }))
      .sort((one, other) => one.line - other.line)
      .slice(0, maxProblems)
      .map(({ line, text }) => `${path}:${line}: ${text}`),
    hint: 'See the members: docs/platforms.md',
  })
}

/** Returns a YAML value; its aliases may expand too far. */
function readValue(read: () => unknown, path: string): unknown {
  try {
    return read()
  } catch (cause) {
    throw new UsageError(`Cannot read ${path}: its aliases expand too far`, { cause })
  }
}

/** Returns the issues inside of a choice between forms, where the value has only one of them. */
function innerIssues(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const forms = issue.errors.filter((form) =>
    form.every((each) => each.path.length > 0 || each.code === 'unrecognized_keys'),
  )
  const [only] = forms
  if (!only || forms.length > 1) return [issue]
  return only.flatMap((each) => innerIssues({ ...each, path: [...issue.path, ...each.path] }))
}

function messageOf({ code, message, input }: { code?: string; message: string; input?: unknown }): string {
  if (input === undefined && code !== 'custom') return 'is required'
  const value = typeof input === 'object' ? '' : `, not ${jsonText(input)}`
  if (code === 'invalid_union') return `has an unknown form${value}`
  return `${message
    .replace(/^Invalid [^:]*: expected/, 'must be')
    .replace('be object', 'be an object')
    .replace(/, received.*/, '')}${code === 'custom' ? '' : value}`
}

function readText(file: string, path: string): string {
  try {
    return readRegularFile(file, maxBytes)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new UsageError(`Cannot read ${path}: ${reason}`, { cause })
  }
}
