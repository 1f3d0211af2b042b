package cdp_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/aster-mcp/aster/cdp"
	browserproto "github.com/chromedp/cdproto/browser"
	cdpproto "github.com/chromedp/cdproto/cdp"
)

// An address is checked when the finder is made; nothing is dialled.
func ExampleNewFinder() {
	for _, text := range []string{"auto", "http://127.0.0.1:9222", "http://example.com:9222", "launch"} {
		_, err := cdp.NewFinder(text, nil)
		fmt.Println(text, err == nil, errors.Is(err, cdp.ErrRemote), errors.Is(err, cdp.ErrLaunch))
	}
	// Output:
	// auto true false false
	// http://127.0.0.1:9222 true false false
	// http://example.com:9222 false true false
	// launch false false true
}

// The way to the browser that the user has open.
func ExampleDial() {
	ctx := context.Background()
	finder, err := cdp.NewFinder("auto", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	endpoint, _, err := finder.Find(ctx)
	if err != nil { // it says where was looked, and what to do
		fmt.Println(err)
		return
	}
	browser, err := cdp.Dial(ctx, endpoint, nil)
	if errors.Is(err, cdp.ErrRefused) {
		fmt.Println("the user said no")
		return
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	defer browser.Close() // the user's tabs stay as they are
	fmt.Println(browser.Attach(ctx))
}

// A browser of the program's own, closed at the end.
func ExampleLaunch() {
	name, _, err := cdp.FindExecutable(nil)
	if errors.Is(err, cdp.ErrNoExecutable) {
		fmt.Println("install Chrome or Chromium")
		return
	}
	launched, err := cdp.Launch(context.Background(), &cdp.LaunchOptions{ProfileDir: "profile", Headless: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer launched.Close()
	fmt.Println(name, launched.Endpoint)
}

// A typed command on the browser itself. Its answer comes on the reading goroutine, so that
// done must not block.
func ExamplePost() {
	ctx := context.Background()
	launched, err := cdp.Launch(ctx, &cdp.LaunchOptions{ProfileDir: "profile", Headless: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer launched.Close()
	browser, err := cdp.Dial(ctx, launched.Endpoint, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer browser.Close()
	product := make(chan string, 1)
	cdp.Post(browser.Root(), browserproto.GetVersion, cdpproto.Empty{}, func(v browserproto.GetVersionResult, err error) {
		product <- fmt.Sprint(v.Product, err)
	})
	fmt.Println(<-product)
}
