package claude

import "testing"

// Check accepts exactly the named policies.
func TestStoreFlushIsChecked(t *testing.T) {
	for flush, ok := range map[StoreFlush]bool{"": true, FlushBatched: true, FlushEager: true, "sometimes": false} {
		if err := (&Options{SessionStoreFlush: flush}).Check(); (err == nil) != ok {
			t.Errorf("SessionStoreFlush %q: %v", flush, err)
		}
	}
}
