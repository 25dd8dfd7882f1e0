import * as z from 'zod'
import { CourseStatus } from '../../contract/courses.ts'
import { CourseRecord, ModuleRecord } from '../dataset/courses.ts'
import { LessonRecord } from '../dataset/lessons.ts'

const { courseId: _course, module: _module, order: _order, managedBy, ...lessonFields } = LessonRecord.shape
const { externalId, title: lessonTitle, contentBlocks, assessments, ...lessonAttributes } = lessonFields

/** A lesson in its course, matched by its external id, else by its title. Absent fields have their defaults. */
const LessonEntry = z.strictObject({
  externalId,
  title: lessonTitle,
  order: z.int().min(1).max(100_000).optional().meta({
    description: 'Place among all lessons of the course (default after the lesson before it in the file)',
  }),
  ...lessonAttributes,
  managedBy,
  contentBlocks,
  assessments,
})
const Lessons = z.array(LessonEntry).max(10_000).default([])

const ModuleEntry = ModuleRecord.extend({ lessons: Lessons })

const {
  externalId: _externalId,
  title,
  status: _status,
  modules: _modules,
  ...attributes
} = CourseRecord.shape

/**
 * A course as one document: its attributes, modules with their lessons, and lessons without a module. It has no ids
 * and no fields that the server sets. Absent fields have their defaults, except the status: an existing course keeps
 * its own.
 */
export const CourseDocument = z
  .strictObject({
    externalId: z.string().min(1).max(255),
    title,
    status: CourseStatus.optional(),
    ...attributes,
    modules: z.array(ModuleEntry).max(1000).default([]),
    lessons: Lessons,
  })
  .superRefine(({ modules, lessons }, context) => {
    const seen = new Set<string>()
    const groups = [
      ...modules.map((module, index) => ({ lessons: module.lessons, path: ['modules', index, 'lessons'] })),
      { lessons, path: ['lessons'] },
    ]
    for (const group of groups) {
      for (const [index, { externalId }] of group.lessons.entries()) {
        if (externalId === null) continue
        if (seen.has(externalId)) {
          context.addIssue({
            code: 'custom',
            path: [...group.path, index, 'externalId'],
            params: { code: 'duplicate' },
            message: `is used by several lessons: ${JSON.stringify(externalId)}`,
          })
        }
        seen.add(externalId)
      }
    }
  })
export type CourseDocument = z.output<typeof CourseDocument>
