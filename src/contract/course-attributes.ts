import * as z from 'zod'
import { courseStatuses, difficulties } from './course-choices.ts'
import { ExternalId, Language, ManagedBy, Minutes, Objectives, optional, Percent, text } from './field.ts'
import { patchOf } from './patch.ts'

export const Difficulty = z.enum(difficulties)
export const CourseStatus = z.enum(courseStatuses)

const Module = z.strictObject({
  id: z.string().max(100).optional(),
  title: text(1, 255),
  description: z.string().max(10_000).default(''),
  order: z.int().min(1).max(100_000).optional(),
})

/** What completes an enrolment: progress, a passing grade, both, either, or neither (cmi5 §10.2.3). */
export const MoveOn = z.enum([
  'Completed',
  'Passed',
  'CompletedAndPassed',
  'CompletedOrPassed',
  'NotApplicable',
])

const AssessmentCriteria = z.strictObject({
  passingScore: Percent.default(70),
  moveOn: MoveOn.default('Completed'),
  weights: z
    .array(z.strictObject({ name: text(1, 255), weight: Percent }))
    .max(100)
    .default([])
    .refine((weights) => weights.reduce((sum, { weight }) => sum + weight, 0) <= 100 + 1e-9, {
      params: { code: 'weights_exceed_100' },
      error: 'must not add up to more than 100',
    }),
})

const AdaptiveDifficulty = z
  .strictObject({
    enabled: z.boolean().default(false),
    minLevel: optional(Difficulty),
    maxLevel: optional(Difficulty),
    raiseAtScore: Percent.default(85),
    lowerAtScore: Percent.default(50),
    window: z.int().min(1).max(100).default(3),
  })
  .superRefine(({ minLevel, maxLevel, raiseAtScore, lowerAtScore }, context) => {
    if (minLevel && maxLevel && difficulties.indexOf(minLevel) > difficulties.indexOf(maxLevel)) {
      context.addIssue({
        code: 'custom',
        path: ['minLevel'],
        params: { code: 'out_of_order' },
        message: `must not be above maxLevel (${maxLevel})`,
      })
    }
    if (lowerAtScore >= raiseAtScore) {
      context.addIssue({
        code: 'custom',
        path: ['lowerAtScore'],
        params: { code: 'out_of_order' },
        message: `must be below raiseAtScore (${raiseAtScore})`,
      })
    }
  })

const ProgressTracking = z.strictObject({
  enabled: z.boolean().default(true),
  completionThreshold: z.number().min(1).max(100).default(100),
})

/** The writable attributes of a course. */
export const CourseInput = z.strictObject({
  externalId: ExternalId,
  title: text(1, 255),
  description: z.string().max(10_000).default(''),
  difficulty: Difficulty.default('beginner'),
  learningObjectives: Objectives,
  modules: z.array(Module).max(1000).default([]),
  assessmentCriteria: AssessmentCriteria.prefault({}),
  adaptiveDifficulty: AdaptiveDifficulty.prefault({}),
  progressTracking: ProgressTracking.prefault({}),
  tags: z.array(text(1, 100)).max(100).default([]),
  language: optional(Language),
  durationMinutes: optional(Minutes),
  managedBy: ManagedBy,
  status: CourseStatus.default('draft'),
})
export type CourseInput = z.output<typeof CourseInput>

export const CoursePatch = patchOf(CourseInput)
