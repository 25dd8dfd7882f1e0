import type * as z from 'zod'
import { findNearest } from '../codec/nearest.ts'

type Issue = z.core.$ZodIssue

/** The end of a detail: `; did you mean title?`, or nothing. */
export function suggestionText(word: string, known: readonly string[]): string {
  const near = findNearest(word, known)
  return near.length > 0 ? `; did you mean ${near.join(' or ')}?` : ''
}

export function codeOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'required' : 'invalid_type'
    case 'too_small':
    case 'too_big':
      if (issue.origin !== 'string' && issue.origin !== 'array') return 'out_of_range'
      return issue.code === 'too_small' ? 'too_short' : 'too_long'
    case 'invalid_value':
      return issue.input === undefined ? 'required' : 'invalid_choice'
    case 'invalid_union':
      return 'invalid_type'
    case 'custom':
      return String(issue.params?.['code'] ?? 'invalid')
    default:
      return issue.code
  }
}

/** The text continues the name of the field. */
export function detailOf(issue: Issue, meantBy = suggestionText): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${withArticle(issue.expected)}`
    case 'invalid_value': {
      const choices = issue.values.map(String)
      if (issue.input === undefined) return 'is required'
      return `must be one of ${choices.join(', ')}${meantBy(String(issue.input), choices)}`
    }
    case 'too_small':
      return boundText(
        issue.origin,
        issue.inclusive === false ? 'more than' : 'at least',
        Number(issue.minimum),
      )
    case 'too_big':
      return boundText(
        issue.origin,
        issue.inclusive === false ? 'less than' : 'at most',
        Number(issue.maximum),
      )
    default:
      return issue.message
  }
}

/** `must have at least 1 character`. */
export function boundText(origin: string, bound: string, value: number): string {
  const many = value === 1 ? '' : 's'
  if (origin === 'string') return `must have ${bound} ${value} character${many}`
  if (origin === 'array') return `must have ${bound} ${value} item${many}`
  return `must be ${bound} ${value}`
}

/** `a whole number`. */
export function withArticle(type: string): string {
  if (type === 'int') return 'a whole number'
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`
}
