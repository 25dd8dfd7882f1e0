import * as z from 'zod'
import { jsonText } from '../../codec/json-text.ts'
import { bare } from '../../contract/fields.ts'
import { codeOf, detailOf, suggestionText } from '../../contract/validation-issues.ts'

const maximumValue = 60

/** A schema violation: its path, and a message that continues the path. */
export interface Issue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** Returns the violations in a value that was parsed with `reportInput`. */
export function issuesIn(schema: z.ZodType, error: z.ZodError): Issue[] {
  return error.issues.flatMap((issue): Issue[] => {
    if (issue.code === 'unrecognized_keys') {
      const known = keysAt(schema, issue.path)
      return issue.keys.map((key) => ({
        path: [...issue.path, key],
        message: `is not a known field${suggestionText(key, known)}`,
      }))
    }
    return [{ path: issue.path, message: detailOf(issue) + wrongValue(issue) }]
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

function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at: z.ZodType = bare(schema)
  for (const step of path) {
    // A shape and an array hold schemas; zod's types for them are wider.
    if (at instanceof z.ZodObject) at = bare(at.shape[String(step)] as z.ZodType)
    else if (at instanceof z.ZodArray) at = bare(at.element as z.ZodType)
  }
  return at instanceof z.ZodObject ? Object.keys(at.shape) : []
}

function wrongValue(issue: z.core.$ZodIssue): string {
  const { input, path } = issue
  const untold = ['required', 'duplicate'].includes(codeOf(issue)) || path.at(-1) === 'password'
  const text = untold || typeof input === 'object' ? undefined : jsonText(input)
  return text !== undefined && text.length <= maximumValue ? `, not ${text}` : ''
}
