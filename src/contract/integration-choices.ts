/** The learning management systems that can be connected; `standard` is whatever sends Standard Webhooks. */
export const lmsKinds = ['canvas', 'moodle', 'openedx', 'thinkific', 'standard'] as const
export type LmsKind = (typeof lmsKinds)[number]

/** What a grade does to progress: nothing, 100% once the course is passed, or the grade is the percentage. */
export const gradeToProgressChoices = ['none', 'completed_on_pass', 'percent'] as const
export type GradeToProgress = (typeof gradeToProgressChoices)[number]

/** What of another system is called by a key of its own. */
export const mappedNouns = ['course', 'user'] as const
export type MappedNoun = (typeof mappedNouns)[number]
