import { isJsonObject } from '../../codec/json-text.ts'
import { isStorableText } from '../../codec/unicode-text.ts'
import type { Environment } from '../../config/directories.ts'

/**
 * Matches `${NAME}` with any number of dollar signs in front: one marks a variable, each further one escapes one.
 */
const variable = /\$(\$*)\{([A-Za-z_]\w*)\}/g

/** Environment variables that files may use. */
export interface Variables {
  readonly allowed: ReadonlySet<string>
  readonly env: Environment
}

/** Path of a value in a document: names and indexes. */
export type Path = readonly (string | number)[]

/**
 * Replaces `${NAME}` in a value by allowed variables only, so that a file cannot leak others. `$${NAME}` stands for
 * the text `${NAME}`. Calls `refuse` with what cannot be replaced.
 */
export function withVariables(
  value: unknown,
  variables: Variables,
  refuse: (path: Path, message: string) => void,
  path: Path = [],
): unknown {
  if (typeof value === 'string') {
    if (!isStorableText(value)) refuse(path, 'must be well-formed Unicode without U+0000')
    return value.replace(variable, (whole: string, more: string, name: string) => {
      if (more !== '') return whole.slice(1)
      const fault = faultOf(name, variables)
      if (fault === null) return variables.env[name] ?? ''
      refuse(path, fault)
      return whole
    })
  }
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => withVariables(item, variables, refuse, [...path, index]))
  }
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).map(([name, member]) => [
    name,
    withVariables(member, variables, refuse, [...path, name]),
  ])
  return Object.fromEntries(members)
}

function faultOf(name: string, { allowed, env }: Variables): string | null {
  if (!allowed.has(name))
    return `uses the variable ${name}, which is not allowed; allow it with --env ${name}`
  return env[name] ? null : `uses the variable ${name}, which is not set`
}

/** True for a text that contains a variable. */
export function hasVariable(text: string): boolean {
  return [...text.matchAll(variable)].some(([, more]) => more === '')
}

/** Escapes `${NAME}` in all texts of a value, so that `withVariables` returns the same value. */
export function withoutVariables(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(variable, '$$$&')
  if (Array.isArray(value)) return value.map(withoutVariables)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutVariables(member)]))
}
