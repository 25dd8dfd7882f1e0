import * as z from 'zod'
import { isJsonObject } from '../../../codec/json-text.ts'
import { isStorableText } from '../../../codec/unicode-text.ts'
import type { Environment } from '../../../config/directories.ts'
import { EnrollmentInput } from '../../../contract/enrollments.ts'
import { GradeInput } from '../../../contract/grades.ts'
import { ProgressItem } from '../../../contract/progress.ts'
import { TermInput } from '../../../contract/terms.ts'
import { UserInput } from '../../../contract/users.ts'
import { Reference } from '../../../contract/values.ts'
import { GroupRecord } from '../../dataset/people.ts'
import { CourseDocument } from './course.ts'

/** Written at the top of each file. */
export const formatVersion = 1

const table = z.strictObject({
  file: z.string().min(1).max(1000).meta({
    description: 'CSV, JSON or JSONL file in the same folder or below, as the import commands read it',
  }),
})

/** Courses refer to it by its external id, or by its name if that is unique. */
const TermEntry = TermInput.safeExtend({ externalId: z.string().min(1).max(255) })

/** Members that are not listed stay as they are. */
export const GroupEntry = GroupRecord.safeExtend({
  externalId: z.string().min(1).max(255),
  members: z.array(Reference).max(1_000_000).optional().meta({
    description: 'Members: external ids or e-mail addresses of users; the group has no others',
  }),
})

/** Schemas of the parts of a file, each a list of records or the name of a table beside the file. */
export const partSchemas = {
  terms: TermEntry,
  users: UserInput,
  courses: CourseDocument,
  groups: GroupEntry,
  enrollments: EnrollmentInput,
  progress: ProgressItem,
  grades: GradeInput,
} as const
export type PartName = keyof typeof partSchemas

export const AcademyDocument = z.strictObject({
  learnctl: z.literal(formatVersion).meta({ description: 'Version of this format' }),
  terms: partOf(TermEntry, 'Terms, known by their external id'),
  users: partOf(UserInput, 'Users, known by their external id, else by their e-mail address'),
  courses: z
    .array(CourseDocument)
    .optional()
    .meta({ description: 'Courses with their modules and lessons, known by their external id' }),
  groups: partOf(GroupEntry, 'Groups with their members, known by their external id'),
  enrollments: partOf(EnrollmentInput, 'Enrolments, known by course, user and role'),
  progress: partOf(ProgressItem, 'Progress, one record for each step of a learner in a course'),
  grades: partOf(GradeInput, 'Grades, known by course, learner, item and source'),
})

function partOf<Item extends z.ZodType>(item: Item, description: string) {
  return z
    .union([z.array(item), table])
    .optional()
    .meta({ description })
}

/** Draft 2020-12, for editors. */
export function academySchema(): object {
  const schema = z.toJSONSchema(AcademyDocument, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.format !== 'date-time') return
      delete jsonSchema.format
      jsonSchema.anyOf = [{ format: 'date-time' }, { format: 'date' }]
    },
  })
  const { $schema, ...rest } = schema
  return { $schema, title: 'learnctl academy', ...rest }
}

/** `${NAME}` with any number of dollar signs in front: one marks a variable, each further one escapes one. */
const variable = /\$(\$*)\{([A-Za-z_]\w*)\}/g

export interface Variables {
  readonly allowed: ReadonlySet<string>
  readonly env: Environment
}

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

export function hasVariable(text: string): boolean {
  return [...text.matchAll(variable)].some(([, more]) => more === '')
}

/** Escapes `${NAME}`, so that `withVariables` returns the same value. */
export function withoutVariables(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(variable, '$$$&')
  if (Array.isArray(value)) return value.map(withoutVariables)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutVariables(member)]))
}
