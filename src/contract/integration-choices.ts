/** Supported learning management systems; `standard` is any sender of Standard Webhooks. */
export const lmsKinds = ['canvas', 'moodle', 'openedx', 'thinkific', 'standard'] as const
export type LmsKind = (typeof lmsKinds)[number]

/** Effect of a grade on progress: none, 100% when the course is passed, or the grade as the percentage. */
export const gradeToProgressChoices = ['none', 'completed_on_pass', 'percent'] as const
export type GradeToProgress = (typeof gradeToProgressChoices)[number]

/** Kinds of records with keys in other systems. */
export const mappedNouns = ['course', 'user'] as const
export type MappedNoun = (typeof mappedNouns)[number]
