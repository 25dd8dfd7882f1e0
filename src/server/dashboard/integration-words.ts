import type { GradeToProgress, LmsKind } from '../../contract/integration-choices.ts'

/** What the other systems are called. */
export const kindWords: Readonly<Record<LmsKind, string>> = {
  canvas: 'Canvas',
  moodle: 'Moodle',
  openedx: 'Open edX',
  thinkific: 'Thinkific',
  standard: 'Standard Webhooks',
}

/** What a system is called; of a kind that is not known any more, the kind. */
export function kindName(kind: string): string {
  return Object.hasOwn(kindWords, kind) ? kindWords[kind as LmsKind] : kind
}

/** What a grade can do to progress, in words. */
export const progressWords: Readonly<Record<GradeToProgress, string>> = {
  none: 'A grade leaves progress as it is',
  completed_on_pass: 'A passed course is completed (100%)',
  percent: 'The grade of the course is the percentage completed',
}
