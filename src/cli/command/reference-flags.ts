import type { FieldFlag } from './flag.ts'

/** The flag of a list that takes courses, several times. */
export const courseFilter = {
  name: 'course',
  kind: 'texts',
  placeholder: 'course',
  summary: 'Filter by course: id or external id',
} as const satisfies FieldFlag<'texts'>

/** The same for users, called as the list calls them. */
export function userFilter<const Name extends 'learner' | 'user'>(name: Name) {
  return {
    name,
    unlisted: [name === 'learner' ? '--user' : '--learner'],
    kind: 'texts',
    placeholder: name,
    summary: `Filter by ${name}: id, external id or e-mail address`,
  } as const satisfies FieldFlag<'texts'>
}
