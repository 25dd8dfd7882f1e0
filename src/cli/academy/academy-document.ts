import * as z from 'zod'
import { EnrollmentInput } from '../../contract/enrollments.ts'
import { GradeInput } from '../../contract/grades.ts'
import { ProgressItem } from '../../contract/progress.ts'
import { UserInput } from '../../contract/users.ts'
import { CourseDocument } from '../records/sources/course.ts'

/** Version of the format, written at the top of each file. */
export const formatVersion = 1

const table = z.strictObject({
  file: z.string().min(1).max(1000).meta({
    description: 'CSV, JSON or JSONL file in the same folder or below, as the import commands read it',
  }),
})

/** Schemas of the parts of a file, each a list of records or the name of a table beside the file. */
export const partSchemas = {
  users: UserInput,
  courses: CourseDocument,
  enrollments: EnrollmentInput,
  progress: ProgressItem,
  grades: GradeInput,
} as const
export type PartName = keyof typeof partSchemas

/** A file of an academy. */
export const AcademyDocument = z.strictObject({
  learnctl: z.literal(formatVersion).meta({ description: 'Version of this format' }),
  users: partOf(UserInput, 'Users, known by their external id, else by their e-mail address'),
  courses: z
    .array(CourseDocument)
    .optional()
    .meta({ description: 'Courses with their modules and lessons, known by their external id' }),
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

/** The JSON Schema (draft 2020-12) of a file, for editors. */
export function academySchema(): object {
  const schema = z.toJSONSchema(AcademyDocument, { io: 'input', unrepresentable: 'any', reused: 'ref' })
  const { $schema, ...rest } = schema
  return { $schema, title: 'learnctl academy', ...rest }
}
