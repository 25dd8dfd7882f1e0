import type { FieldFlag } from './flag.ts'

/** Flag that filters a list by courses (repeatable). */
export const courseFilter = {
  name: 'course',
  kind: 'texts',
  placeholder: 'course',
  summary: 'Filter by course: id or external id',
} as const satisfies FieldFlag<'texts'>

/** Returns the flag that filters a list by users, under the name that the list uses. */
export function userFilter<const Name extends 'learner' | 'user'>(name: Name) {
  return {
    name,
    unlisted: [name === 'learner' ? '--user' : '--learner'],
    kind: 'texts',
    placeholder: name,
    summary: `Filter by ${name}: id, external id or e-mail address`,
  } as const satisfies FieldFlag<'texts'>
}
