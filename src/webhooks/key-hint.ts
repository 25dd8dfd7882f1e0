import { canonicalCanvasId } from './canvas-id.ts'

/** What stands for a learner who has but a key of another system; the same for all forms of the key. */
export function keyHint(kind: string, key: string): string {
  return `key:${kind}:${kind === 'canvas' ? canonicalCanvasId(key, null) : key}`
}
