/** Formats a whole number with commas between its thousands: `99,900`. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}
